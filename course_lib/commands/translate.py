"""`python3 -m course_lib translate`: put a trained model to work, on arguments or on standard input."""

import argparse
import sys
from pathlib import Path

USAGE = """\
examples:
  python3 -m course_lib translate --run runs/numbers "two hundred and forty-three" 97
  python3 -m course_lib translate --run runs/mine < sentences.txt
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.epilog, parser.formatter_class = USAGE, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "texts", nargs="*", metavar="TEXT", help="what to translate; without any, lines of standard input"
    )
    # Not dest="run": that is the function that the command line calls.
    parser.add_argument("--run", dest="folder", type=Path, required=True, metavar="FOLDER", help="the folder of a run")
    parser.add_argument("--beams", type=int, default=1, metavar="N", help="beginnings kept at each step (1: greedy)")
    parser.add_argument("--penalty", type=float, default=0.6, metavar="X", help="the length penalty of a beam (0.6)")


def run(extra: list[str], known: argparse.Namespace) -> int:
    """Translate each text into a line of standard output."""
    from course_lib.train.evaluate import translate
    from course_lib.train.run import load_result

    model, corpus = load_result(known.folder)
    if known.texts:
        for translation in translate(model, corpus, known.texts, known.beams, known.penalty):
            print(translation)
        return 0
    for number, line in enumerate(sys.stdin, start=1):
        try:
            text = translate(model, corpus, [line.strip()], known.beams, known.penalty)[0] if line.strip() else ""
        except ValueError as error:
            raise ValueError(f"standard input, line {number}: {error}") from None
        print(text, flush=True)
    return 0
