"""What the tests share: a browser, plain shapes, and the summary at the end that a person can read."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
BEGAN = time.monotonic()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium, driven by playwright, for the tests of one file.

    Not for the whole session: while it is open its event loop runs in this thread, and tests that start one of their
    own would fail.
    """
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no browser: install Chromium or Chrome to run the browser tests")
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: install the extra `test`")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=list(QUIET))
        yield chromium
        chromium.close()


@pytest.fixture
def plain_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let wrong shapes pass the checks that the test run adds, so that the library's own errors can be tested."""
    jaxtyping = pytest.importorskip("jaxtyping")
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say in words what ran, what was skipped and why, and how long it took; pytest's own last line follows."""
    terminalreporter.section("Attention, one cell at a time")
    for line in summary(terminalreporter.stats, time.monotonic() - BEGAN):
        terminalreporter.write_line(line)


def summary(stats: dict[str, list[Any]], seconds: float) -> list[str]:
    """Return the summary's lines for pytest's reports by outcome."""
    passed = [report.nodeid for report in stats.get("passed", [])]
    failed = [report.nodeid for outcome in ("failed", "error") for report in stats.get(outcome, [])]
    skipped = Counter(_reason(report) for report in stats.get("skipped", []))
    cells = [node for node in passed + failed if ".ipynb::" in node]
    notebooks = {node.split("::")[0] for node in cells}
    lessons = sum(notebook.startswith("notebooks") for notebook in notebooks)
    lines = [
        f"{_count(len(passed) + len(failed) - len(cells), 'test')}; {_count(lessons, 'lesson')} and "
        f"{_count(len(notebooks) - lessons, 'solution')} executed, {_count(len(cells), 'cell')} compared with what "
        f"the notebooks show; {seconds // 60:.0f} min {seconds % 60:.0f} s."
    ]
    lines += [f"Skipped {count}: {reason}" for reason, count in skipped.items()]
    if failed:
        files = dict.fromkeys(node.split("::")[0] for node in failed)
        lines.append(f"{len(failed)} failed, in {', '.join(files)}.")
        lines.append(f"To run one of them alone:  python3 -m course_lib test {next(iter(files))}")
    elif passed:
        lines.append("Everything that ran holds.")
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _reason(report: Any) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")
