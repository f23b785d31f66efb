"""Two runs of a notebook differ in names, times and paths; their normalised files do not."""

import copy
import json

import pytest

from course_lib.authoring.normalise import STATE, VIEW, normalised, read, write


def code(source, outputs=(), count=1, **more):
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": list(outputs), "execution_count": count}
    return cell | more


def notebook(*cells, **metadata):
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def saved(tmp_path, raw):
    path = tmp_path / "03_toy.ipynb"
    path.write_text(raw if isinstance(raw, str) else json.dumps(raw), encoding="utf-8")
    return path


def box(names):
    """A widget's state as a kernel sends it: a box, its child, a layout of each, and a model that nothing shows."""
    outer, child, first, second, orphan = names

    def model(name, **state):
        return {"model_name": name, "model_module": "m", "model_module_version": "2", "state": state}

    return {
        orphan: model("LayoutModel"),
        child: model("HTMLModel", layout=f"IPY_MODEL_{second}", value="<b>x</b>"),
        second: model("LayoutModel", width="5px", height=None),
        outer: model("BoxModel", children=[f"IPY_MODEL_{child}"], layout=f"IPY_MODEL_{first}"),
        first: model("LayoutModel", width=None),
    }


def shown(names):
    view = {"output_type": "display_data", "metadata": {}, "data": {VIEW: {"model_id": names[0]}, "text/plain": "Box"}}
    cell = code("box", [view], id="a")
    return notebook(cell, widgets={STATE: {"state": box(names)}})


def test_two_runs_with_other_widget_names_give_the_same_file():
    first = write(normalised(shown(["f1", "0a", "77", "c0", "99"])))
    second = write(normalised(shown(["aa", "ff", "bb", "01", "00"])))
    assert first == second


def test_widgets_that_no_output_shows_are_dropped_and_unset_layouts_are_short():
    state = normalised(shown(["f1", "0a", "77", "c0", "99"]))["metadata"]["widgets"][STATE]["state"]
    names = [f"{number:032x}" for number in (1, 2, 3, 4)]
    assert list(state) == names
    assert state[names[0]]["state"]["children"] == [f"IPY_MODEL_{names[1]}"]
    assert state[names[2]]["state"] == {"width": "5px"}
    assert state[names[3]]["state"] == {}


def test_counts_run_from_one_and_an_unrun_cell_stays_so():
    result = {"output_type": "execute_result", "data": {"text/plain": "2"}, "metadata": {}, "execution_count": 9}
    cells = normalised(notebook(code("1+1", [result], 9, id="a"), code("", count=None, id="b")))["cells"]
    assert [cell["execution_count"] for cell in cells] == [1, None]
    assert cells[0]["outputs"][0]["execution_count"] == 1


def test_only_the_metadata_of_the_course_is_kept():
    timed = {"execution": {"iopub.busy": "now"}, "vscode": {}, "tags": ["defines"], "nbgrader": {"grade": False}}
    kept = normalised(notebook(code("", id="a", metadata=timed), authors=["Ada"], kernelspec={"name": "mine"}))
    assert kept["cells"][0]["metadata"] == {"tags": ["defines"], "nbgrader": {"grade": False}}
    assert "authors" not in kept["metadata"] and kept["metadata"]["kernelspec"]["name"] == "python3"
    assert kept["metadata"]["language_info"] == {"name": "python"}


def test_a_traceback_keeps_the_cells_frames_and_loses_those_of_files():
    frames = [
        "-----",
        "E  Traceback",
        "\x1b[36mCell\x1b[39m In[1], line 1",
        "\x1b[32mFile /home/ada/x.py:1\x1b[0m",
        "E: no",
    ]
    error = {"output_type": "error", "ename": "E", "evalue": "no", "traceback": frames}
    kept = normalised(notebook(code("f()", [error], id="a")))["cells"][0]["outputs"][0]["traceback"]
    assert kept == [frames[0], frames[1], frames[2], frames[4]]


def test_the_notebook_that_is_normalised_is_not_changed():
    before = shown(["f1", "0a", "77", "c0", "99"])
    after = copy.deepcopy(before)
    normalised(after)
    assert after == before


def test_normalising_twice_is_normalising_once():
    once = normalised(shown(["f1", "0a", "77", "c0", "99"]))
    assert normalised(once) == once


def test_missing_and_doubled_ids_are_made_and_are_the_same_each_time(tmp_path):
    path = saved(tmp_path, notebook(code("a", id="x"), code("b", id="x"), code("c")))
    ids = [cell["id"] for cell in read(path)["cells"]]
    assert ids[0] == "x" and len(set(ids)) == 3
    assert ids == [cell["id"] for cell in read(path)["cells"]]


def test_what_is_written_reads_back_the_same(tmp_path):
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "one\ntwo\n"},
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<b>\nx</b>", "application/json": ["a"]}},
    ]
    before = normalised(notebook(code("print('ü')\n1", outputs, id="a")))
    after = read(saved(tmp_path, write(before)))
    assert after == before
    assert "ü" in write(before) and write(before).endswith("}\n")


@pytest.mark.parametrize("text", ["not JSON", "[]", '{"nbformat": 3, "worksheets": []}'])
def test_what_is_no_notebook_is_refused_by_name(tmp_path, text):
    with pytest.raises(ValueError, match=r"03_toy\.ipynb: wanted a notebook"):
        read(saved(tmp_path, text))


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"wanted a notebook, got .*none\.ipynb"):
        read(tmp_path / "none.ipynb")
