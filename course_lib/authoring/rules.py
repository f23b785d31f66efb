"""The rules that every notebook of the course keeps: its file, its outputs, and what it may not do to a machine.

A rule takes a notebook and returns its complaints, one a line, each with the number of the cell.
"""

import ast
import re

from course_lib.authoring.cells import Cell, Notebook, without_images

LARGEST_FILE = 2_000_000  # bytes; a lesson full of figures has a few hundred thousand
TAGS = {"defines", "instructor", "nbval-ignore-output", "raises-exception"}
SHOWING = ("print", "predict", "check", "show")  # calls that never show nothing
FIGURES = ("common", "plots", "widgets")  # the modules whose every function returns something to look at
FORBIDDEN = (
    (r"^\s*[!%]", "no shell and no magic commands"),
    (r"\b(pip|conda|uv|apt)(3|-get)? install\b", "no installs"),
    (r"\b(urllib|requests|urlretrieve|urlopen|wget|curl)\b", "no downloads"),
    (r"\bwarnings\b|\bfilterwarnings\b", "no warning filters"),
    (r"\b(set_printoptions|printoptions|seterr|rcParams|rcdefaults|set_num_threads|set_default_\w+)\b", "no settings"),
    (r"\b(np|numpy)\.random\.seed\b|\b(torch|random)\.(manual_)?seed\(|os\.environ", "no settings"),
    (r"\bplt\b|\bpyplot\b|\bpylab\b", "no pyplot: a figure is one call of course_lib.plots"),
    (r"\b(interact|interactive|interactive_output|clear_output)\(|\b(w|widgets)\.Output\(", "no Output, no interact"),
    (r"\btqdm\b", "no progress bars"),
    (r"#\s*(NBVAL|PYTEST_VALIDATE)_", "no nbval comments: use tags"),
    (r"\binput\(", "no questions to the keyboard"),
)
MACHINE = re.compile(
    r"(?<![\w.])/(home|Users|tmp|root|work|opt|usr|mnt|var|private|content)/[\w.]"
    r"|\b[A-Za-z]:\\+(Users|Windows|Program|Temp)|~[/\\]\w"
    r"|ipykernel_\d+|site-packages|<ipython-input"
)


def ids_are_present_and_unique(notebook: Notebook) -> list[str]:
    """Each cell has an id of its own in the file itself, where libraries would quietly make one up."""
    seen: set[str] = set()
    complaints = []
    for cell in notebook.cells:
        if not cell.id or not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell.id):
            complaints.append(f"cell {cell.number}: wanted an id, got {cell.id!r}")
        elif cell.id in seen:
            complaints.append(f"cell {cell.number}: the id {cell.id} is another cell's too")
        seen.add(cell.id or "")
    return complaints


def code_has_been_run_in_order(notebook: Notebook) -> list[str]:
    """The execution counts are 1, 2, …: run once, from top to bottom, and not stripped."""
    pairs = enumerate(notebook.code, start=1)
    return [f"cell {cell.number}: wanted count {n}, got {cell.count}" for n, cell in pairs if cell.count != n]


def outputs_are_there(notebook: Notebook) -> list[str]:
    """A cell that must show something shows it: nobody has cleared it."""
    return [f"cell {cell.number}: nothing is shown" for cell in notebook.code if not cell.outputs and _must_show(cell)]


def errors_are_announced(notebook: Notebook) -> list[str]:
    """A cell fails if and only if it is tagged `raises-exception`."""
    complaints = []
    for cell in notebook.code:
        failed = [output.get("ename", "an error") for output in cell.outputs if output["output_type"] == "error"]
        if failed and "raises-exception" not in cell.tags:
            complaints.append(f"cell {cell.number}: {failed[0]}, and no tag raises-exception")
        if not failed and "raises-exception" in cell.tags:
            complaints.append(f"cell {cell.number}: tagged raises-exception, and it raised none")
    return complaints


def nothing_on_stderr(notebook: Notebook) -> list[str]:
    """No warning has slipped into an output; nbgrader gives no points to a cell with one."""
    return [
        f"cell {cell.number}: an output on stderr"
        for cell in notebook.code
        if any(output.get("name") == "stderr" for output in cell.outputs)
    ]


def no_path_of_a_machine(notebook: Notebook) -> list[str]:
    """No output names a folder of the computer that built it."""
    complaints = []
    for place, text in [(f"cell {c.number}", t) for c in notebook.code for t in c.texts] + [
        ("widgets", notebook.widgets)
    ]:
        found = MACHINE.search(without_images(text))
        if found:
            complaints.append(f"{place}: the path {found[0]!r} in an output")
    return complaints


def pictures_have_alternative_text(notebook: Notebook) -> list[str]:
    """Each picture, shown or in a widget, can be read as a sentence."""
    complaints = []
    for cell in notebook.code:
        for output in cell.outputs:
            data = output.get("data", {})
            bare = [kind for kind in data if kind.startswith("image/")]
            complaints += [f"cell {cell.number}: a bare {kind}, without alternative text" for kind in bare]
    places = [(f"cell {cell.number}", cell.html) for cell in notebook.code] + [("widgets", notebook.widgets)]
    places += [(f"cell {cell.number}", cell.source) for cell in notebook.markdown]
    for place, text in places:
        for element in re.findall(r"<img\b[^>]*>", text):
            if not re.search(r"""\balt=("[^"]*\w[^"]*"|'[^']*\w[^']*')""", element):
                complaints.append(f"{place}: an <img> without alternative text")
        for element in re.findall(r"<svg\b.*?</svg>", text, re.DOTALL):
            if not re.search(r"aria-label=.\w|<title>\s*\w", element):
                complaints.append(f"{place}: an <svg> without aria-label or title")
        if place != "widgets" and re.search(r"!\[\s*\]\(", text):
            complaints.append(f"{place}: a picture without alternative text")
    return complaints


def nothing_is_done_to_the_machine(notebook: Notebook) -> list[str]:
    """No installs, downloads, filters, settings or plotting by hand; nothing that nbval cannot compare."""
    complaints = []
    for cell in notebook.code:
        for pattern, rule in FORBIDDEN:
            found = re.search(pattern, cell.source, re.MULTILINE)
            if found:
                complaints.append(f"cell {cell.number}: {rule} ({found[0].strip()})")
    return complaints


def tags_are_known(notebook: Notebook) -> list[str]:
    """Only the course's own tags: a misspelt one does nothing, and one to skip a cell hides it from the tests."""
    return [
        f"cell {cell.number}: wanted one of the tags {', '.join(sorted(TAGS))}; got {tag}"
        for cell in notebook.cells
        for tag in cell.tags
        if tag not in TAGS
    ]


def machine_dependent_outputs_are_asserted(notebook: Notebook) -> list[str]:
    """What a cell with a machine-dependent output claims is asserted in it, or in one of the next two code cells."""
    complaints = []
    for place, cell in enumerate(notebook.code):
        if "nbval-ignore-output" in cell.tags:
            near = notebook.code[place : place + 3]
            if not any(_asserts(other) for other in near):
                complaints.append(f"cell {cell.number}: nothing is compared and nothing asserted")
    return complaints


def predictions_are_folded(notebook: Notebook) -> list[str]:
    """An answer to a prediction is folded, is all that its cell shows, and is asked for in the prose before."""
    complaints = []
    for cell in notebook.code:
        if not cell.calls("predict"):
            continue
        if "<details>" not in cell.html or len(cell.outputs) != 1:
            complaints.append(f"cell {cell.number}: the answer is not folded")
        before = [other for other in notebook.markdown if other.number < cell.number]
        if not before or "predict" not in before[-1].source.lower():
            complaints.append(f"cell {cell.number}: the prose before asks for no prediction")
    return complaints


def the_file_is_small(notebook: Notebook) -> list[str]:
    """The file stays under the bound, so that it opens at once and git can hold its history."""
    if notebook.size <= LARGEST_FILE:
        return []
    return [f"the file has {notebook.size:,} bytes; wanted {LARGEST_FILE:,} at most"]


RULES = (
    ids_are_present_and_unique,
    code_has_been_run_in_order,
    outputs_are_there,
    errors_are_announced,
    nothing_on_stderr,
    no_path_of_a_machine,
    pictures_have_alternative_text,
    nothing_is_done_to_the_machine,
    tags_are_known,
    machine_dependent_outputs_are_asserted,
    predictions_are_folded,
    the_file_is_small,
)


def _must_show(cell: Cell) -> bool:
    if not cell.statements or cell.source.rstrip().endswith(";"):
        return False
    last = cell.statements[-1]
    prints = any(
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _name(statement.value) == "print"
        for statement in cell.statements
    )
    if prints or not isinstance(last, ast.Expr):
        return prints
    if not isinstance(last.value, ast.Call):
        return True
    module = getattr(getattr(last.value.func, "value", None), "id", "")
    return _name(last.value) in SHOWING or module in FIGURES


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _asserts(cell: Cell) -> bool:
    nodes = [node for statement in cell.statements for node in ast.walk(statement)]
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and _name(node).startswith("assert"))
        for node in nodes
    )
