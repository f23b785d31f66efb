"""A page with one anywidget in it, for the tests of those that compute in JavaScript."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

# A page with the module loaded, and a model that stands in for the one of Jupyter's widgets.
PAGE = """
async ([source, css, state]) => {
  const link = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  window.explorer = await import(link);
  const style = document.createElement("style");
  style.textContent = css;
  document.head.append(style);
  const listeners = {};
  window.saves = 0;
  window.model = {
    get: (name) => state[name],
    set: (name, value) => {
      const changed = JSON.stringify(state[name]) !== JSON.stringify(value);
      state[name] = value;
      if (changed) for (const listener of listeners["change:" + name] ?? []) listener();
    },
    save_changes: () => { window.saves += 1; },
    on: (event, listener) => { (listeners[event] ??= []).push(listener); },
    off: (event, listener) => { listeners[event] = (listeners[event] ?? []).filter((other) => other !== listener); },
  };
  window.listening = () => Object.values(listeners).flat().length;
  document.body.replaceChildren();
  window.stop = window.explorer.default.render({ model: window.model, el: document.body });
}
"""


@pytest.fixture
def open_widget(browser: Any) -> Iterator[Callable]:
    """Return a function that opens a page with one widget, holding these of its traits; pages are closed afterwards."""
    pages = []

    def opened(widget: Any, traits: Sequence[str], width: int = 1280, dark: bool = False) -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900})
        pages.append(page)
        if dark:
            page.add_style_tag(content="body { background: #111; color: #eee }")
        state = {name: getattr(widget, name) for name in traits}
        page.evaluate(PAGE, [str(widget._esm), str(widget._css), state])
        return page

    yield opened
    for page in pages:
        page.close()
