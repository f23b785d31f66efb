"""The loop: the same whichever way a batch is computed, continued bit for bit, and stopped when it should be."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from course_lib.train import checkpoint, metrics  # noqa: E402
from course_lib.train.evaluate import held_out_loss  # noqa: E402
from course_lib.train.loop import train  # noqa: E402
from course_lib.train.options import Options  # noqa: E402

SHORT = {"steps": 12, "warmup": 3, "log_every": 1, "sentences": 16, "compile": "off"}


def run(build, corpus, out=None, resume=False, say=print, sizes=None, **options):
    model = build(**(sizes or {}))
    history = train(model, corpus, Options(**{**SHORT, **options}), out, resume, device="cpu", bar=False, say=say)
    return model, history


def equal(first, second):
    return all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_the_loss_falls_and_the_model_ends_in_evaluation_mode(build, corpus):
    model, history = run(build, corpus, steps=80, learning_rate=1e-2)
    assert history.losses[-1] < 0.5 * history.losses[0] and history.steps.tolist() == list(range(1, 81))
    assert not model.training


def test_the_same_seed_gives_the_same_run_and_the_callers_random_numbers_stay_as_they_were(build, corpus):
    before = torch.get_rng_state()
    first = run(build, corpus, sizes={"dropout": 0.1})[0]
    torch.set_rng_state(before)
    model = build(dropout=0.1)
    at_start = torch.get_rng_state()
    train(model, corpus, Options(**SHORT), device="cpu", bar=False)
    assert torch.equal(torch.get_rng_state(), at_start) and equal(first, model)


def test_the_first_loss_is_the_cross_entropy_of_the_untrained_model(build, corpus):
    _, history = run(build, corpus, steps=1, sentences=150)
    assert history.losses[0] == pytest.approx(held_out_loss(build(), corpus.train, torch.device("cpu")), rel=1e-5)


@pytest.mark.parametrize("parts", [2, 3, 20])
def test_accumulated_parts_with_unequal_padding_equal_one_batch(build, corpus, parts):
    whole, parted = (run(build, corpus, accumulate=n, smoothing=0.1)[1].losses for n in (1, parts))
    assert np.allclose(whole, parted, atol=1e-5)  # float32, another order of summation; 20 parts leave some empty


def test_a_mean_of_means_would_be_another_gradient(corpus):
    from course_lib.data.batches import make_batch

    batch = make_batch(sorted(corpus.train, key=lambda pair: len(pair.target))[::10])
    tokens = [batch.part(i, 2).tokens for i in range(2)]
    assert sum(tokens) == batch.tokens and tokens[0] != tokens[1]


def test_bf16_trains_to_nearly_the_same_losses(build, corpus):
    full, half = (run(build, corpus, precision=precision, steps=30)[1].losses for precision in ("fp32", "bf16"))
    assert np.allclose(full, half, rtol=0.03)  # bf16 keeps 8 bits, 0.4 %; the rest is what 30 steps make of it
    assert not np.array_equal(full, half)


def test_fp16_with_a_scaled_loss_trains_to_nearly_the_same_losses(build, corpus):
    full, half = (run(build, corpus, precision=precision, steps=30)[1].losses for precision in ("fp32", "fp16"))
    assert np.allclose(full, half, rtol=0.1) and not np.array_equal(full, half)  # the scaler skips its first steps


def test_a_resumed_run_equals_one_that_was_never_stopped(build, corpus, tmp_path):
    sizes, options = {"dropout": 0.1}, {"steps": 20, "checkpoint_every": 4, "validate_every": 5}
    whole, history = run(build, corpus, tmp_path / "whole", sizes=sizes, **options)
    run(build, corpus, tmp_path / "parts", sizes=sizes, **options)
    for path in checkpoint.find(tmp_path / "parts" / "checkpoints")[1:]:
        path.unlink()  # as if it had been stopped after step 16
    again, continued = run(build, corpus, tmp_path / "parts", resume=True, sizes={**sizes, "seed": 5}, **options)
    assert equal(whole, again)
    assert continued.losses.tolist() == history.losses.tolist() and continued.held_out == history.held_out


def test_resuming_over_the_end_of_an_epoch_with_batches_of_tokens(build, corpus, tmp_path):
    options = {"steps": 30, "sentences": None, "tokens": 60, "checkpoint_every": 11}
    whole, _ = run(build, corpus, tmp_path / "whole", **options)
    run(build, corpus, tmp_path / "parts", **options)
    checkpoint.path_of(tmp_path / "parts" / "checkpoints", 30).unlink()
    assert equal(whole, run(build, corpus, tmp_path / "parts", resume=True, **options)[0])


def test_resuming_without_a_checkpoint_begins_at_the_beginning(build, corpus, tmp_path):
    assert equal(run(build, corpus)[0], run(build, corpus, tmp_path, resume=True)[0])


def test_a_torn_checkpoint_is_told_and_the_run_still_ends_the_same(build, corpus, tmp_path):
    options = {"steps": 12, "checkpoint_every": 4}
    whole, _ = run(build, corpus, tmp_path / "whole", **options)
    run(build, corpus, tmp_path / "torn", **options)
    path = checkpoint.path_of(tmp_path / "torn" / "checkpoints", 12)
    path.write_bytes(path.read_bytes()[:-100])
    said = []
    again, _ = run(build, corpus, tmp_path / "torn", resume=True, say=said.append, **options)
    assert equal(whole, again) and "torn" in said[0] and "step 8" in said[1]


def test_checkpoints_are_not_overwritten_by_a_new_run(build, corpus, tmp_path):
    run(build, corpus, tmp_path)
    with pytest.raises(FileExistsError, match="--resume goes on"):
        run(build, corpus, tmp_path)


def test_the_metrics_are_json_lines_and_half_a_line_at_the_end_is_no_harm(build, corpus, tmp_path):
    run(build, corpus, tmp_path, steps=6, checkpoint_every=3)
    path = tmp_path / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert all(line["loss"] > 0 and line["tokens_per_second"] > 0 for line in lines)
    path.write_text(path.read_text() + '{"step": 7, "lo')
    _, history = run(build, corpus, tmp_path, resume=True, steps=6, checkpoint_every=3)
    assert history.steps.tolist() == [1, 2, 3, 4, 5, 6]


def test_only_the_checkpoints_that_are_needed_are_kept(build, corpus, tmp_path):
    run(build, corpus, tmp_path, checkpoint_every=2, average=3)
    steps = [path.stem for path in checkpoint.find(tmp_path / "checkpoints")]
    assert steps == ["step-00000008", "step-00000010", "step-00000012"]


def test_the_result_is_the_mean_of_the_last_checkpoints(build, corpus, tmp_path):
    model, _ = run(build, corpus, tmp_path, checkpoint_every=2, average=3)
    states = [checkpoint.read(path)[0] for path in checkpoint.find(tmp_path / "checkpoints")]
    mean = torch.stack([state["model.encoder_norm.weight"] for state in states]).mean(0)
    assert torch.allclose(model.encoder_norm.weight, mean, atol=1e-7)
    assert not torch.equal(model.encoder_norm.weight, states[-1]["model.encoder_norm.weight"])


def test_it_stops_when_the_held_out_loss_gets_no_better(build, corpus):
    said = []
    _, history = run(build, corpus, steps=500, learning_rate=1e-9, validate_every=1, patience=3, say=said.append)
    assert history.steps[-1] < 20 and "no better held-out loss in 3 validations" in said[0]


def test_a_lost_loss_names_its_step(build, corpus):
    with pytest.raises(FloatingPointError, match="up to step"):
        run(build, corpus, steps=50, learning_rate=1e30, clip=1e30)


def test_the_rate_that_is_logged_is_the_schedules(build, corpus):
    _, history = run(build, corpus, schedule="noam", learning_rate=1.0, warmup=4)
    rates = [line["rate"] for line in history.lines]
    assert np.argmax(rates) == 3 and rates[3] == pytest.approx(16**-0.5 * 4**-0.5)


def test_in_a_notebook_ten_lines_stand_in_for_the_bar(corpus, build, capsys):
    options = Options(steps=20, warmup=3, log_every=1, sentences=8)
    train(build(), corpus, options, device="cpu", bar="lines")
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert len(lines) == 10 and not printed.err
    assert lines[0].startswith("step 2 of 20: loss") and lines[-1].endswith("0 s left")


def test_slow_steps_are_heard_of_once_a_minute(capsys, monkeypatch):
    clock = iter([0.0, 50.0, 100.0, 130.0, 170.0])
    monkeypatch.setattr(metrics.time, "perf_counter", lambda: next(clock))
    lines = metrics.Lines(steps=1000, done=0)
    for _ in range(4):
        lines.update(1)
    assert capsys.readouterr().out.splitlines() == ["step 2 of 1,000: 49900 s left", "step 4 of 1,000: 42330 s left"]
