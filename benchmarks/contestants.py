"""The same encoder-decoder from several hands, each assembled and trained as its own users would do it.

    ours            course_lib in fp32
    ours, default   course_lib as `train` runs it here (bf16 where the processor has it and the model is wide)
    nn.Transformer  PyTorch's own module, with embeddings, positions and masks around it
    x-transformers  the package's XTransformer                       (extra `benchmarks`)
    transformers    Hugging Face's Marian, the paper's architecture  (extra `benchmarks`)

Dropout is off everywhere and the loss is the plain cross-entropy, so that all do the same work.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from course_lib.experiments.training_bugs import write_out
from course_lib.model.config import Config
from course_lib.model.decoding import WithoutCache, greedy
from course_lib.model.transformer import Transformer
from course_lib.train.loop import _optimizer as our_optimizer
from course_lib.train.options import Options
from course_lib.train.precision import Plan, autocast, choose, this_machine

BEGIN, END, PAD = 1, 2, 0


class Contestant:
    """One implementation: its loss on a batch, its optimizer, and greedy decoding for so many tokens."""

    name = ""

    def __init__(self, config: Config, device: str):
        self.config, self.device = config, device
        torch.manual_seed(0)
        self.model = self.build().to(device)
        self.optimizer = self.make_optimizer()

    def build(self) -> nn.Module:
        """Return the model."""
        raise NotImplementedError

    def make_optimizer(self) -> torch.optim.Optimizer:
        """Return PyTorch's AdamW as it comes."""
        return torch.optim.AdamW(self.model.parameters(), lr=1e-4)

    def loss(self, source: Tensor, target: Tensor, wanted: Tensor) -> Tensor:
        """Return the mean cross-entropy."""
        logits = self.model(source, target)
        return cross_entropy(logits.flatten(0, 1).float(), wanted.flatten(), ignore_index=PAD)

    def decode(self, source: Tensor, tokens: int) -> None:
        """Decode greedily until there are so many tokens, whatever they are."""
        raise NotImplementedError


class Ours(Contestant):
    """course_lib, fp32."""

    name = "ours, fp32"

    def build(self) -> nn.Module:
        return Transformer(self.config)

    def make_optimizer(self) -> torch.optim.Optimizer:
        optimizer = our_optimizer(self.model, Options())
        for group in optimizer.param_groups:
            group["lr"] = 1e-4
        return optimizer

    def decode(self, source: Tensor, tokens: int) -> None:
        greedy(self.model, source, extra=tokens - source.shape[1], end_id=-1)


class OursDefault(Ours):
    """course_lib in the number format that `train` chooses here."""

    def __init__(self, config: Config, device: str):
        self.plan: Plan = choose(this_machine(), config.d_model, steps=0)
        self.name = f"ours, default ({self.plan.precision})"
        super().__init__(config, device)

    def loss(self, source: Tensor, target: Tensor, wanted: Tensor) -> Tensor:
        with autocast(self.plan):
            logits = self.model(source, target)
        return cross_entropy(logits.flatten(0, 1).float(), wanted.flatten(), ignore_index=PAD)


class OursWithoutCache(Ours):
    """course_lib, each token computed from all before it."""

    name = "ours, no cache"

    def decode(self, source: Tensor, tokens: int) -> None:
        greedy(WithoutCache(self.model), source, extra=tokens - source.shape[1], end_id=-1)


class OursWrittenOut(Ours):
    """course_lib with the formula in the place of `scaled_dot_product_attention`."""

    name = "ours, written out"

    def build(self) -> nn.Module:
        model = Transformer(self.config)
        write_out(model)
        return model


class OfPyTorch(Contestant):
    """`torch.nn.Transformer` with what it leaves to its user."""

    name = "nn.Transformer"

    class Module(nn.Module):
        def __init__(self, config: Config):
            super().__init__()
            d = config.d_model
            self.source = nn.Embedding(config.source_vocabulary, d, padding_idx=PAD)
            self.target = nn.Embedding(config.target_vocabulary, d, padding_idx=PAD)
            position = torch.arange(config.longest)[:, None]
            slower = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
            table = torch.zeros(config.longest, d)
            table[:, 0::2], table[:, 1::2] = torch.sin(position * slower), torch.cos(position * slower)
            self.register_buffer("table", table)
            self.transformer = nn.Transformer(
                d, config.h, config.N, config.N, config.d_ff, 0.0, batch_first=True, norm_first=config.norm == "pre"
            )
            self.generator = nn.Linear(d, config.target_vocabulary, bias=False)
            self.generator.weight = self.target.weight
            if config.tied == "all":
                self.source.weight = self.target.weight
            nn.init.normal_(self.target.weight, std=d**-0.5)  # or the first loss is in the dozens
            nn.init.normal_(self.source.weight, std=d**-0.5)
            self.scale = math.sqrt(d)

        def forward(self, source: Tensor, target: Tensor) -> Tensor:
            hides_future = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
            padding = source == PAD
            hidden = self.transformer(
                self.source(source) * self.scale + self.table[: source.shape[1]],
                self.target(target) * self.scale + self.table[: target.shape[1]],
                tgt_mask=hides_future,
                src_key_padding_mask=torch.zeros_like(padding, dtype=torch.float).masked_fill(padding, -torch.inf),
                memory_key_padding_mask=torch.zeros_like(padding, dtype=torch.float).masked_fill(padding, -torch.inf),
                tgt_is_causal=True,
            )
            return self.generator(hidden)

    def build(self) -> nn.Module:
        return self.Module(self.config)

    @torch.no_grad()
    def decode(self, source: Tensor, tokens: int) -> None:
        target = torch.full((len(source), 1), BEGIN, device=source.device)
        for _ in range(tokens):  # the module has no cache
            target = torch.cat([target, self.model(source, target)[:, -1:].argmax(-1)], dim=1)


class XTransformers(Contestant):
    """The package x-transformers, with its fast attention on."""

    name = "x-transformers"

    def build(self) -> nn.Module:
        from x_transformers import XTransformer

        config = self.config
        return XTransformer(
            dim=config.d_model,
            pad_value=PAD,
            ignore_index=PAD,
            tie_token_emb=config.tied == "all",
            enc_num_tokens=config.source_vocabulary,
            enc_depth=config.N,
            enc_heads=config.h,
            enc_attn_dim_head=config.key_width,
            enc_ff_mult=config.d_ff // config.d_model,
            enc_attn_flash=True,
            enc_max_seq_len=config.longest,
            dec_num_tokens=config.target_vocabulary,
            dec_depth=config.N,
            dec_heads=config.h,
            dec_attn_dim_head=config.key_width,
            dec_ff_mult=config.d_ff // config.d_model,
            dec_attn_flash=True,
            dec_max_seq_len=config.longest,
        )

    def loss(self, source: Tensor, target: Tensor, wanted: Tensor) -> Tensor:
        return self.model(source, torch.cat([target[:, :1], wanted], dim=1), mask=source != PAD)

    @torch.no_grad()
    def decode(self, source: Tensor, tokens: int) -> None:
        begin = torch.full((len(source), 1), BEGIN, device=source.device)
        self.model.generate(source, begin, tokens, mask=source != PAD, temperature=0.0, cache_kv=True)


class HuggingFace(Contestant):
    """`transformers`' Marian: sinusoidal positions, post-LN, one matrix for source, target and output."""

    name = "transformers (Marian)"

    def build(self) -> nn.Module:
        from transformers import MarianConfig, MarianMTModel

        config = self.config
        sizes = {
            f"{side}_{name}": value
            for side in ("encoder", "decoder")
            for name, value in (("layers", config.N), ("attention_heads", config.h), ("ffn_dim", config.d_ff))
        }
        marian = MarianConfig(
            vocab_size=config.target_vocabulary,
            d_model=config.d_model,
            max_position_embeddings=config.longest,
            activation_function="relu",
            dropout=0.0,
            attention_dropout=0.0,
            scale_embedding=True,
            pad_token_id=PAD,
            bos_token_id=BEGIN,
            eos_token_id=END,
            forced_eos_token_id=None,
            decoder_start_token_id=BEGIN,
            attn_implementation="sdpa",
            **sizes,
        )
        return MarianMTModel(marian)

    def loss(self, source: Tensor, target: Tensor, wanted: Tensor) -> Tensor:
        labels = wanted.masked_fill(wanted == PAD, -100)
        mask = (source != PAD).long()
        return self.model(input_ids=source, attention_mask=mask, decoder_input_ids=target, labels=labels).loss

    @torch.no_grad()
    def decode(self, source: Tensor, tokens: int) -> None:
        self.model.generate(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            min_new_tokens=tokens,
            max_new_tokens=tokens,
            do_sample=False,
            num_beams=1,
        )


def assemble(kinds: list[type[Contestant]], build: Callable[[type[Contestant]], object]) -> dict:
    """Build each, by its kind; one whose package is missing is named and left out."""
    built = {}
    for kind in kinds:
        try:
            built[kind] = build(kind)
        except ImportError as error:
            print(f"{kind.name}: left out, {error}")
    return built


def lesson_sizes() -> tuple[Config, int, int, int]:
    """Return the lesson's sizes with one vocabulary, and batch, source and target length."""
    return Config(39, 39, N=2, d_model=64, d_ff=256, h=4, dropout=0.0, norm="pre", longest=256), 32, 13, 12


def base_like_sizes() -> tuple[Config, int, int, int]:
    """Return the paper's base with a small vocabulary, and batch, source and target length."""
    return replace(Config(1024, 1024), dropout=0.0), 8, 32, 32


def random_batch(config: Config, batch: int, source: int, target: int, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids with some padding: source, shifted target, wanted."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, config.source_vocabulary, (batch, source), generator=generator)
    wanted = torch.randint(4, config.target_vocabulary, (batch, target), generator=generator)
    ids[0, -2:], wanted[0, -2:] = PAD, PAD
    shifted = torch.cat([torch.full((batch, 1), BEGIN), wanted[:, :-1]], dim=1)
    return ids.to(device), shifted.to(device), wanted.to(device)
