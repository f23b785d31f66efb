"""Tokens a second in greedy decoding, with and without the cache of keys and values, beside what others offer.

    python3 benchmarks/decoding_speed.py            some minutes
    python3 benchmarks/decoding_speed.py --quick    the smallest size alone

Untrained models, a fixed number of tokens, nobody may end early. Each contestant has a process of its own.
`nn.Transformer` has no cache to use.
"""

import argparse
from collections.abc import Callable

import contestants as who
import measure

from course_lib.model.config import Config

ALL = [who.Ours, who.OursWithoutCache, who.OfPyTorch, who.XTransformers, who.HuggingFace]


def decoder(
    kind: type[who.Contestant], config: Config, batch: int, tokens: int, known: argparse.Namespace
) -> Callable[[], list[float]]:
    """Return a function that decodes so many tokens for each sentence of a batch and says how long it took."""
    measure.use_threads(known)
    contestant, clock = kind(config, known.device), measure.Clock(known)
    contestant.model.eval()
    source = who.random_batch(config, batch, 13, 12, known.device)[0][:, :11]  # no padding

    def decode() -> list[float]:
        contestant.decode(source, 2)  # what slept while others had their turn wakes up
        start = clock()
        contestant.decode(source, tokens)
        return [clock() - start]

    return decode


def compare(title: str, config: Config, batch: int, tokens: int, known: argparse.Namespace) -> None:
    """Print the table of one size."""
    workers = who.assemble(ALL, lambda kind: measure.Apart(decoder, kind, config, batch, tokens, known))
    medians = measure.interleaved(known.rounds, workers)
    for worker in workers.values():
        worker.close()
    print(f"\n{title}: batch {batch}, {tokens} tokens each")
    base = medians[who.OursWithoutCache][0]
    rows = [
        [kind.name, f"{1000 * t:.0f}", f"{batch * tokens / t:,.0f}", f"{base / t:.1f}"]
        for kind, (t,) in medians.items()
    ]
    measure.table(["", "ms", "tokens/s", "times no cache"], rows)


def main() -> None:
    """Compare at each size."""
    known = measure.arguments(__doc__)
    measure.header(known)
    small, base = who.lesson_sizes()[0], who.base_like_sizes()[0]
    compare("The lesson's size", small, 32, 16, known)
    if not known.quick:
        compare("The lesson's size, long", small, 1, 128, known)
        compare("The paper's base, small vocabulary", base, 1, 32, known)
        compare("The paper's base, small vocabulary", base, 8, 32, known)


if __name__ == "__main__":
    main()
