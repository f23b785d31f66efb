"""A few well-known public translation sets by name, through the `datasets` library (an optional extra).

Nothing is downloaded unless a set is asked for by name. A folder with the same format (`train.jsonl` and
`validation.jsonl`, or parquet) can stand in for a name.
"""

from pathlib import Path
from typing import Any, NamedTuple


class PublicSet(NamedTuple):
    """Where a set is kept, and which of its parts."""

    path: str
    part: str | None
    languages: tuple[str, str]
    held_out: str = "validation"


SETS = {
    "multi30k": PublicSet("bentrevett/multi30k", None, ("en", "de")),
    "wmt14-en-de": PublicSet("wmt/wmt14", "de-en", ("en", "de")),
    "wmt14-en-fr": PublicSet("wmt/wmt14", "fr-en", ("en", "fr")),
    "wmt16-en-ro": PublicSet("wmt/wmt16", "ro-en", ("en", "ro")),
}
Texts = list[tuple[str, str, str]]  # source, target, "set:row"


def load(name: str, languages: tuple[str, str] | None = None) -> tuple[Texts, Texts]:
    """Return the training texts and the held-out texts of a set, or of a folder in its format.

    A row is {"en": …, "de": …} or {"translation": {"en": …, "de": …}}.

    Raises:
        ValueError: if there is no such set, if it cannot be fetched, or if a row lacks a language.
    """
    folder = Path(name)
    if name not in SETS and not folder.is_dir():
        raise ValueError(f"--dataset: wanted a folder or one of {', '.join(SETS)}, got {name!r}")
    try:
        from datasets import load_dataset
    except ImportError:
        raise ValueError("--dataset needs the package datasets: pip install -e '.[datasets]'") from None
    known = SETS.get(name, PublicSet(name, None, ("en", "de")))
    try:
        rows = load_dataset(known.path, known.part)
    except Exception as error:  # the library raises many kinds, most of them for want of a network
        reason = f"{type(error).__name__}: {(str(error).splitlines() or ['no more is known'])[0]}"
        raise ValueError(
            f"{name}: could not be fetched ({reason}). Without internet: fetch it elsewhere and give the folder as "
            "--dataset, or give your own text with --task text-pairs --train FILE --valid FILE"
        ) from None
    held_out = known.held_out if known.held_out in rows else "test"
    for part in ("train", held_out):
        if part not in rows:
            raise ValueError(f"{name}: wanted the parts train and validation, got {', '.join(rows)}")
    wanted = languages or known.languages
    return tuple(
        [_texts(row, wanted, f"{name}/{part}:{number}") for number, row in enumerate(rows[part], start=1)]
        for part in ("train", held_out)
    )


def _texts(row: dict[str, Any], languages: tuple[str, str], where: str) -> tuple[str, str, str]:
    row = row.get("translation", row)
    for language in languages:
        if not isinstance(row.get(language), str) or not row[language].strip():
            raise ValueError(f"{where}: wanted a text in the language {language!r}, got the columns {', '.join(row)}")
    return row[languages[0]].strip(), row[languages[1]].strip(), where
