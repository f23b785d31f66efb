"""The loop: batches, parts, one update a step; logged, validated, checkpointed, and continued where it was stopped.

Each token weighs the same wherever it is computed: the sum of losses is divided by the tokens of the whole batch, over
all parts and processes, so that neither accumulation nor a second GPU changes the gradient.
"""

import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from course_lib.data.batches import Batch, Stream
from course_lib.data.translation import Corpus
from course_lib.train import checkpoint, parallel
from course_lib.train.evaluate import held_out_loss, on_device
from course_lib.train.loss import smoothed_loss_sum
from course_lib.train.metrics import History, Log
from course_lib.train.options import Options
from course_lib.train.precision import Machine, Plan, autocast, choose, prepared, scaler, this_machine


def train(
    model: nn.Module,
    corpus: Corpus,
    options: Options,
    out: Path | None = None,
    resume: bool = False,
    width: int | None = None,
    device: str | None = None,
    bar: bool | str = True,
    say: Callable[[str], None] = print,
) -> History:
    """Train `model` on the corpus and return the history; the model is left in evaluation mode, on its device.

    With `out`, metrics and checkpoints go into that folder, and `resume` goes on from the newest whole one; without
    `out`, nothing is written. `width` is the model's numbers a token, d_model unless given. `bar` is a progress bar, or
    "lines": ten of them on standard output, more in a slow run. Dropout draws from PyTorch's own random numbers, which
    begin with the seed here and are given back as they were afterwards.

    Raises:
        FileExistsError: if there are checkpoints in `out` and `resume` is not set.
        FloatingPointError: if the loss is lost; the message names the step.
    """
    width = model.config.d_model if width is None else width
    machine = this_machine()
    if device not in (None, machine.device):
        machine = Machine(device)
    plan = choose(machine, width, options.steps, options.precision, options.compile)
    with prepared(plan), parallel.joined(plan.device) as here, torch.random.fork_rng(_generators(plan, here)):
        run = _Run(model, corpus, options, plan, here, out, width, bar, say)
        run.begin(resume)
        try:
            while run.step < options.steps and not run.stopped:
                run.advance()
        finally:
            run.log.close()
        run.finish()
        return History(run.log.lines)


class _Run:
    """One run's moving parts."""

    def __init__(
        self,
        model: nn.Module,
        corpus: Corpus,
        options: Options,
        plan: Plan,
        here: parallel.World,
        out: Path | None,
        width: int,
        bar: bool | str,
        say: Callable[[str], None],
    ):
        self.options, self.plan, self.here, self.width = options, plan, here, width
        self.device = torch.device("cuda", here.local_rank) if plan.device == "cuda" else torch.device(plan.device)
        self.folder = None if out is None else out / "checkpoints"
        self.out = out if here.leads else None
        self.bar, self.say = here.leads and bar, say if here.leads else lambda text: None
        self.corpus, self.stream = corpus, Stream(corpus.train, options.seed, options.sentences, options.tokens)
        self.model = model.to(self.device)
        self.optimizer = _optimizer(model, options)
        self.scaler = scaler(plan)
        faster = torch.compile(model, dynamic=True) if plan.compile else model
        self.wrapped = parallel.wrap(faster, here, self.device)
        self.step, self.stopped = 0, False
        self.best, self.waited = math.inf, 0  # of early stopping
        self.pending: list[tuple[Tensor, int]] = []  # losses and tokens since the last line

    def begin(self, resume: bool) -> None:
        """Start afresh, or from the newest whole checkpoint."""
        torch.manual_seed(self.options.seed + self.here.rank)
        found = None
        if self.folder is not None:
            if resume:
                found = checkpoint.newest(self.folder, self.say)
            elif checkpoint.find(self.folder):
                raise FileExistsError(
                    f"{self.folder}: there are checkpoints; --resume goes on from them, or choose another --out"
                )
        if found is not None:
            self._restore(*found)
        self.log = Log(self.out, self.step, self.options.steps, self.bar)
        self.model.train()
        self.since = time.perf_counter()

    def advance(self) -> None:
        """Do one step, and whatever is due after it."""
        options = self.options
        batch = next(self.stream)
        self.step += 1
        rate = options.rate(self.step, self.width)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.pending.append((self._gradients(batch), batch.tokens))
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), options.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        last = self.step == options.steps
        saves = last or _due(self.step, options.checkpoint_every)
        if saves or _due(self.step, options.log_every) or _due(self.step, options.validate_every):
            self._write_line(rate)
        self.log.reached(self.step)
        if _due(self.step, options.validate_every):
            self._validate()
        if saves or self.stopped:
            self._save()

    def finish(self) -> None:
        """Leave the result in the model: its last state, or the mean of the last checkpoints."""
        parallel.wait(self.here)
        if self.options.average > 1 and self.folder is not None:
            paths = checkpoint.find(self.folder)[-self.options.average :]
            checkpoint.load_weights(self.model, checkpoint.average(paths))
        self.model.eval()

    def _gradients(self, batch: Batch) -> Tensor:
        """Compute the gradient of the batch's mean loss, part by part, and return this process's sum of losses."""
        parts = self.options.accumulate
        losses = torch.zeros((), device=self.device)
        for i in range(parts):
            part = batch.part(self.here.rank * parts + i, self.here.size * parts)
            weight = 1.0
            if not len(part.source):  # fewer sequences than parts: all processes must still meet
                part, weight = batch.part(0, len(batch.source)), 0.0
            source, target, wanted = on_device(part, self.device)
            with parallel.quiet(self.wrapped, i == parts - 1):
                with autocast(self.plan):
                    logits = self.wrapped(source, target)
                loss = weight * smoothed_loss_sum(logits, wanted, self.options.smoothing)
                self.scaler.scale(loss * (self.here.size / batch.tokens)).backward()
            losses += loss.detach()
        return losses

    def _write_line(self, rate: float) -> None:
        losses = parallel.total(torch.stack([loss for loss, _ in self.pending]).sum(), self.here).item()
        tokens = sum(count for _, count in self.pending)
        now = time.perf_counter()
        if not math.isfinite(losses) and not self.scaler.is_enabled():
            raise FloatingPointError(f"loss: wanted a finite number up to step {self.step}, got {losses}")
        speed = tokens / max(now - self.since, 1e-9)
        line = {"step": self.step, "loss": losses / tokens, "rate": rate, "tokens_per_second": round(speed, 1)}
        self.log.add(line)
        self.pending, self.since = [], now

    def _validate(self) -> None:
        loss = 0.0
        if self.here.leads:
            with autocast(self.plan):
                loss = held_out_loss(self.model, self.corpus.held_out, self.device)
            self.log.add({"step": self.step, "held_out_loss": loss})
        loss = parallel.from_leader(loss, self.here, self.device)
        self.best, self.waited = (loss, 0) if loss < self.best else (self.best, self.waited + 1)
        self.stopped = bool(self.options.patience) and self.waited >= self.options.patience
        if self.stopped:
            self.say(f"stopped at step {self.step}: no better held-out loss in {self.waited} validations")
        self.model.train()
        self.since = time.perf_counter()

    def _save(self) -> None:
        if self.folder is None:
            return
        states = [parallel.gathered(torch.get_rng_state(), self.here, self.device)]
        if self.device.type == "cuda":
            states.append(parallel.gathered(torch.cuda.get_rng_state(self.device), self.here, self.device))
        if self.here.leads:
            tensors = {f"model.{name}": tensor for name, tensor in checkpoint.weights(self.model).items()}
            for name, tensor in checkpoint.optimizer_tensors(self.model, self.optimizer).items():
                tensors[f"optimizer.{name}"] = tensor
            tensors |= {f"random.{i}": state for i, state in enumerate(states)}
            state = {
                "step": self.step,
                "epoch": self.stream.epoch,
                "index": self.stream.index,
                "best": self.best if math.isfinite(self.best) else None,
                "waited": self.waited,
                "stopped": self.stopped,
                "scaler": self.scaler.state_dict(),
                "options": json.loads(json.dumps(self.options.__dict__)),
            }
            checkpoint.write(checkpoint.path_of(self.folder, self.step), tensors, state)
            checkpoint.tidy(self.folder, max(2, self.options.average))
        self.since = time.perf_counter()

    def _restore(self, path: Path, tensors: dict[str, Tensor], state: dict) -> None:
        changed = sorted(
            name
            for name, value in json.loads(json.dumps(self.options.__dict__)).items()
            if state["options"].get(name) != value
        )
        if changed:
            self.say(
                f"{path.name} was trained with other options: {', '.join(changed)}. Going on with those given now."
            )
        checkpoint.load_weights(self.model, checkpoint.select(tensors, "model."))
        checkpoint.load_optimizer(self.model, self.optimizer, checkpoint.select(tensors, "optimizer."))
        self.step, self.stopped, self.waited = state["step"], state["stopped"], state["waited"]
        self.best = math.inf if state["best"] is None else state["best"]
        self.stream.go_to(state["epoch"], state["index"])
        if state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])
        if len(tensors["random.0"]) == self.here.size:
            torch.set_rng_state(tensors["random.0"][self.here.rank])
            if self.device.type == "cuda" and "random.1" in tensors:
                torch.cuda.set_rng_state(tensors["random.1"][self.here.rank], self.device)
        else:
            self.say("another number of processes than before: dropout draws other random numbers from here on")
            torch.manual_seed(self.options.seed + self.here.rank + self.step * 1000)
        self.say(f"going on from step {self.step}")


def _optimizer(model: nn.Module, options: Options) -> torch.optim.AdamW:
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": options.weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=0.0, betas=options.betas, eps=1e-9, fused=True)


def _due(step: int, every: int) -> bool:
    return every > 0 and step % every == 0


def _generators(plan: Plan, here: parallel.World) -> list[int]:
    return [here.local_rank] if plan.device == "cuda" else []
