"""What the bottleneck costs: exact match by length for a GRU, a GRU with attention and the transformer.

python3 benchmarks/bottleneck.py [--seeds 3] [--steps 600]        about a minute a seed
"""

import argparse
from itertools import pairwise

import measure

from course_lib.experiments.translators import EDGES, KINDS, compare, long_numbers


def main() -> None:
    """Train each kind with every seed and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=600)
    known = parser.parse_args()
    rows = []
    for seed in range(known.seeds):
        data = long_numbers(seed)
        for kind in KINDS:
            result = compare(kind, data, known.steps, seed)
            shares = [f"{share:.2f}" for share in (result.exact, *result.by_length)]
            rows.append([kind, str(seed), f"{result.parameters:,}", *shares])
            print(*rows[-1], flush=True)
    bins = [f"{low} to {high - 1}" for low, high in pairwise(EDGES)]
    print(f"\nexact match after {known.steps} steps, by target tokens")
    measure.table(["", "seed", "parameters", "all", *bins], rows)


if __name__ == "__main__":
    main()
