"""Draw docs/cover.png, the picture of README: a map that was learnt in seconds, and a check that names a mistake.

Everything in it is computed by the course itself. Run it in the course's environment, with Chromium installed:
`.venv/bin/python docs/cover.py`.
"""

import html
import shutil
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from course_lib.checks import check
from course_lib.data import pronouns
from course_lib.experiments.pronouns import two_lookups
from course_lib.plots.query_key_value import arcs
from course_lib.reference.attention import softmax

WRONG = """def attention(Q, K, V):
    d_k = Q.shape[-1]
    scores = Q @ K.T / np.sqrt(d_k)
    weights = softmax(scores, axis=0)
    return weights @ V"""

PAGE = """<meta charset="utf-8"><style>
body {{ margin: 0; font: 17px/1.4 "DejaVu Sans", sans-serif; color: #1f2328; background: #f6f8fa; width: 1280px }}
main {{ display: grid; grid-template-columns: 600px 1fr; gap: 28px; padding: 30px 34px }}
h1 {{ grid-column: 1 / 3; font-size: 34px; margin: 0 }}
h2 {{ font-size: 17px; margin: 0 0 10px; color: #0072b2 }}
section {{ background: white; border: 1px solid #d0d7de; border-radius: 8px; padding: 18px 20px }}
pre {{ font: 15px/1.45 "DejaVu Sans Mono", monospace; background: #f6f8fa; padding: 10px 14px; margin: 0 0 10px }}
p, div {{ font-size: 15px }} img {{ max-width: 100% }}
</style><main><h1>Attention, one cell at a time</h1>
<section><h2>What does “it” mean? One adjective moves the arc.</h2>{arcs}</section>
<section><h2>A wrong answer is told which mistake it makes.</h2><pre>{code}</pre>{answer}</section></main>"""


def weights_of_it(reader, sentence):
    """Where "it" looks, after every word has looked around."""
    start, first, read = reader.vectors(sentence), reader.first, reader.read
    scores = (start @ first.W_Q) @ (start @ first.W_K).T
    around = start + softmax(scores) @ start @ first.W_V
    return softmax(around @ read.W_K @ (around[sentence.it] @ read.W_Q))


def main():
    """Train, check, and take the picture."""
    pairs = pronouns.story()[:2], pronouns.story()[2:]
    reader = two_lookups(0)
    names = {"np": np, "softmax": softmax}
    exec(WRONG, names)
    page = PAGE.format(
        arcs="".join(arcs(pair, [weights_of_it(reader, sentence) for sentence in pair]).html for pair in pairs),
        code=html.escape(WRONG),
        answer=check("worked_softmax/attention", names["attention"])._repr_html_(),
    )
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1280, "height": 600}, device_scale_factor=1.5)
        view.set_content(page)
        view.locator("main").screenshot(path=Path(__file__).with_name("cover.png"))
        browser.close()


if __name__ == "__main__":
    main()
