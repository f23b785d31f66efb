"""The whole way that a learner goes: JupyterLab in a browser, lesson 03, all cells, a slider, and the picture moves.

The server gets folders of its own for settings, kernels and workspaces, so that no one's JupyterLab plays a part.
"""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
LESSON = "03_worked_softmax.ipynb"
SECONDS = 120  # for the server to come up, and for the notebook to run; 5 to 10 on two quiet cores

RUN_ALL = """
async () => {
  const app = window.jupyterapp;
  await app.started;
  await app.restored;
  let panel;
  for (let tries = 0; tries < 300; tries++) {
    panel = app.shell.currentWidget;
    if (panel && panel.context) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;  // the kernel has answered
  await app.commands.execute("notebook:run-all-cells");
}
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start JupyterLab on a folder with a copy of the lesson; the address of the lesson in it, with its token."""
    home = tmp_path_factory.mktemp("lab")
    folder = home / "notebooks"
    folder.mkdir()
    shutil.copy(ROOT / "notebooks" / LESSON, folder)
    settings = home / "app_settings"
    settings.mkdir()
    no_news = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (settings / "overrides.json").write_text(json.dumps(no_news))
    environment = {**os.environ, "JUPYTER_PLATFORM_DIRS": "1", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        environment[name] = str(home / name.lower())
    for name in ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"):
        environment[name] = str(home / name.lower())
    port, token = free_port(), secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--allow-root"]
    command += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    command += ["--LabApp.expose_app_in_browser=True", f"--LabApp.app_settings_dir={settings}"]
    with open(home / "log.txt", "w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, **own_group())
        try:
            wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, home / "log.txt")
            yield f"http://127.0.0.1:{port}/lab/tree/{LESSON}?token={token}&reset"
        finally:
            end(server)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def own_group() -> dict[str, Any]:
    """Let the server lead a process group of its own, so that its kernels can be ended with it."""
    if os.name == "nt":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except urllib.error.HTTPError as error:
            error.close()
        except OSError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not come up:\n{log.read_text()[-2000:]}")


def end(server: subprocess.Popen) -> None:
    """End the server, and with it every kernel that it has started."""
    if os.name == "nt":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(server.pid)], capture_output=True, check=False)
        server.wait(timeout=20)
        return
    try:
        os.killpg(server.pid, signal.SIGTERM)  # kernels lead groups of their own; the server ends them when it goes
        server.wait(timeout=20)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(timeout=20)


@pytest.fixture(scope="module")
def lesson(browser: Any, lab: str) -> Iterator[Any]:
    """The lesson, opened in JupyterLab, with all its cells run."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(SECONDS * 1000)
    page.goto(lab)
    page.locator(".jp-Notebook").first.wait_for()
    page.evaluate(RUN_ALL)
    yield page
    page.close()


def scrolled_to(element: Any) -> Any:
    """Scroll until the element stays in view: JupyterLab lays cells out only as they come near, and so moves them."""
    for _ in range(50):
        element.evaluate("element => element.scrollIntoView({ block: 'center' })")
        element.page.wait_for_timeout(100)
        box = element.bounding_box()
        if box and 0 < box["y"] < 1000 - box["height"] and element.inner_text():
            return element
    raise AssertionError("the explorer did not come into view")


def test_every_cell_of_the_lesson_runs_and_none_fails(lesson: Any) -> None:
    cells = lesson.evaluate(
        """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells
                  .filter((cell) => cell.cell_type === "code")
                  .map((cell) => [cell.execution_count, cell.outputs.map((output) => output.output_type)])"""
    )
    assert [count for count, _ in cells] == list(range(1, len(cells) + 1))
    assert not [count for count, outputs in cells if "error" in outputs]


def test_a_slider_moves_the_picture_and_its_sentence(lesson: Any) -> None:
    explorer = scrolled_to(lesson.locator(".attention-explorer").first)
    sentence, weights = explorer.get_by_role("status"), explorer.locator(".ae-weights")
    assert sentence.inner_text() == "Hello looks most at Hello (0.64); World looks most at World (0.64)."
    before = weights.inner_html()
    explorer.get_by_role("slider", name="temperature").focus()
    for _ in range(10):
        lesson.keyboard.press("ArrowRight")
    explorer.get_by_text("Hello looks most at Hello (0.57)").wait_for()  # the softmax of [2, 1] / (2 √3)
    assert weights.inner_html() != before
    assert lesson.evaluate("document.activeElement.type") == "range"  # JupyterLab did not take the keys for itself


def test_what_is_dragged_arrives_in_python(lesson: Any) -> None:
    """The kernel's own copy of the widget answers with the sentence that the page shows."""
    explorer = scrolled_to(lesson.locator(".attention-explorer").first)
    explorer.get_by_role("spinbutton", name="vector of World, number 1").fill("3")
    answer = lesson.evaluate(
        """async () => {
             const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
             const future = kernel.requestExecute({ code: "print(explorer.steps.sentence)" });
             let text = "";
             future.onIOPub = (message) => { text += message.content.text ?? ""; };
             await future.done;
             return text.trim();
           }"""
    )
    assert answer == explorer.get_by_role("status").inner_text()
    assert answer.startswith("Hello looks most at World")


def test_a_picture_that_answers_a_prediction_opens_at_a_click(lesson):
    answer = scrolled_to(lesson.locator(".jp-OutputArea-output details:has(img)").first)
    assert not answer.locator("img").is_visible()
    answer.locator("summary").click()
    answer.locator("img").wait_for(state="visible")
