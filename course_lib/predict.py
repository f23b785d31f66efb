"""A folded answer: the learner predicts first and opens it afterwards."""

import html

import numpy as np


class Prediction:
    """An answer that a notebook shows folded, and plain text shows at once."""

    def __init__(self, question: str, answer: object):
        self.question = question
        self.answer = answer

    def __repr__(self) -> str:
        return f"{self.question}: {_text(self.answer)}"

    def _repr_html_(self) -> str:
        summary = f"Made your prediction of <em>{html.escape(self.question)}</em>? Open the answer."
        drawn = getattr(self.answer, "_repr_html_", None)  # a picture
        body = drawn() if drawn else f"<pre>{html.escape(_text(self.answer))}</pre>"
        return f'<details><summary style="cursor: pointer">{summary}</summary>{body}</details>'


def predict(question: str, answer: object) -> Prediction:
    """Show `answer` folded under `question`, so that it is seen only by who opens it.

    As the last expression of a cell it shows itself. A picture is folded too; arrays are written with four decimals.

    >>> predict("the sum", 1 + 1)
    the sum: 2
    >>> predict("the weights", np.array([0.5, 0.5, 0.0]))
    the weights: [0.5 0.5 0. ]
    """
    return Prediction(question, answer)


def _text(answer: object) -> str:
    if isinstance(answer, np.ndarray | np.floating):
        return np.array2string(np.asarray(answer), precision=4, suppress_small=True)
    return answer if isinstance(answer, str) else repr(answer)
