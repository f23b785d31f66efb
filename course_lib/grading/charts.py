"""Two small figures in HTML and CSS, whose letters keep their size on a phone: bars and a histogram.

Each has a sentence built from its data, for who cannot see it. `STYLE` belongs into the page.
"""

import html
from collections.abc import Sequence

STYLE = """
.bar { margin: .45rem 0; font-size: .9rem; } .bar div { display: flex; justify-content: space-between; gap: 1rem; }
.bar i { display: block; height: .7rem; border-radius: 3px;
  background: linear-gradient(var(--bar), var(--bar)) no-repeat var(--line); }
.tenths { display: flex; align-items: flex-end; gap: 2%; height: 11rem; border-bottom: 1px solid var(--soft); }
.tenths div { flex: 1; text-align: center; font-size: .9rem; }
.tenths i { display: block; background: var(--bar); border-radius: 3px 3px 0 0; }
.labels { display: flex; gap: 2%; } .labels span { flex: 1; text-align: center; font-size: .75rem; color: var(--soft); }
"""


def bars(values: Sequence[tuple[str, float | None]], title: str) -> str:
    """Draw shares between 0 and 1 as bars with their names; an unknown share is said to be one.

    >>> "softmax 50 per cent" in bars([("softmax", 0.5)], "By question")
    True
    """
    rows = []
    for name, share in values:
        bar = f'<i style="background-size: {100 * (share or 0):.1f}% 100%"></i>'
        line = f"<div><span>{html.escape(name)}</span><span class=soft>{_percent(share, '%')}</span></div>"
        rows.append(f"<div class=bar>{line}{bar}</div>")
    said = ", ".join(f"{name} {_percent(share)}" for name, share in values)
    return _figure("".join(rows), f"{title}: {said}.")


def histogram(shares: Sequence[float], title: str) -> str:
    """Draw how many of these percentages lie in each tenth.

    >>> "10 to 19: 1" in histogram([100.0, 12.0], "Share"), "90 to 100: 1" in histogram([100.0, 12.0], "Share")
    (True, True)
    """
    counts = [0] * 10
    for share in shares:
        counts[max(0, min(9, int(share // 10)))] += 1
    most = max([1, *counts])
    columns = [f'<div>{count or ""}<i style="height: {8.5 * count / most:.2f}rem"></i></div>' for count in counts]
    labels = "".join(f"<span>{10 * i}–</span>" for i in range(10))
    body = f"<div class=tenths>{''.join(columns)}</div><div class=labels>{labels}</div>"
    body += f"<p class=soft>{html.escape(title)}</p>"
    said = ", ".join(f"{10 * i} to {10 * i + 9 if i < 9 else 100}: {count}" for i, count in enumerate(counts) if count)
    return _figure(body, f"{title}; how many submissions in each tenth: {said}.")


def _percent(share: float | None, sign: str = " per cent") -> str:
    return "not graded" if share is None else f"{100 * share:.0f}{sign}"


def _figure(body: str, sentence: str) -> str:
    return f'<div role="img" aria-label="{html.escape(sentence)}">{body}</div>'
