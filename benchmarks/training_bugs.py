"""The table of *Training is not a test*: what each bug reaches in training, and what is left of it in decoding.

python3 benchmarks/training_bugs.py [--seeds 3] [--steps 400]        about a quarter of a minute a row and seed
"""

import argparse

import measure

from course_lib.data.number_words import corpus
from course_lib.data.vocabulary import SPECIAL
from course_lib.experiments.training_bugs import VARIANTS, outcome
from course_lib.reference.loss import smoothing_floor


def main() -> None:
    """Train every variant with every seed and print the ranges."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--only", nargs="+", default=VARIANTS, choices=VARIANTS, help="these variants alone")
    known = parser.parse_args()
    rows = []
    for variant in known.only:
        found = [outcome(variant, corpus(seed, held_out=250), known.steps, seed) for seed in range(known.seeds)]
        rows.append([variant, *(" ".join(f"{value:.3f}" for value in column) for column in zip(*found, strict=True))])
        print(rows[-1], flush=True)
    words = len(corpus(0, 10, 10).target) - 1
    print(f"\n{known.steps} steps, {known.seeds} seeds; floor of the loss {smoothing_floor(words, 0.1):.3f} ", end="")
    print(f"({words} words, of which {len(SPECIAL) - 1} are special; ε = 0.1)")
    measure.table(["", "loss", "teacher-forced accuracy", "exact match"], rows)


if __name__ == "__main__":
    main()
