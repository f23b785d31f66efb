"""Tokens a second in greedy decoding, with and without the cache of keys and values, beside what others offer.

    python3 benchmarks/decoding_speed.py            some minutes
    python3 benchmarks/decoding_speed.py --quick    the smallest size alone

Untrained models, a fixed number of tokens, nobody may end early. `nn.Transformer` has no cache to use.
"""

import contestants as who
import measure
import torch

ALL = [who.Ours, who.OursWithoutCache, who.OfPyTorch, who.XTransformers, who.HuggingFace]


def compare(title: str, kinds: list, config, batch: int, tokens: int, known) -> None:
    """Print the table of one size."""
    clock = measure.Clock(known)
    source = who.random_batch(config, batch, 13, 12, known.device)[0][:, :11]  # no padding
    built = who.assemble(kinds, config, known.device)

    def run(contestant: who.Contestant) -> list[float]:
        contestant.model.eval()
        start = clock()
        contestant.decode(source, tokens)
        return [clock() - start]

    medians = measure.interleaved(known.rounds, {c.name: lambda c=c: run(c) for c in built})
    print(f"\n{title}: batch {batch}, {tokens} tokens each")
    base = medians[who.OursWithoutCache.name][0]
    rows = [
        [name, f"{1000 * t:.0f}", f"{batch * tokens / t:,.0f}", f"{base / t:.1f}"] for name, (t,) in medians.items()
    ]
    measure.table(["", "ms", "tokens/s", "times no cache"], rows)


def main() -> None:
    """Compare at each size."""
    known = measure.arguments(__doc__)
    measure.header(known)
    with torch.no_grad():
        small, base = who.lesson_sizes()[0], who.base_like_sizes()[0]
        compare("The lesson's size", ALL, small, 32, 16, known)
        if not known.quick:
            compare("The lesson's size, long", ALL, small, 1, 128, known)
            compare("The paper's base, small vocabulary", ALL, base, 1, 32, known)
            compare("The paper's base, small vocabulary", ALL, base, 8, 32, known)


if __name__ == "__main__":
    main()
