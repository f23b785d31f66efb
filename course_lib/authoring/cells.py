"""A notebook as the rules see it: the raw cells, before any library has repaired them."""

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.authoring.normalise import STATE

IMAGE_DATA = re.compile(r"data:[\w/+.-]+;base64,[A-Za-z0-9+/=]*")


@dataclass(frozen=True)
class Cell:
    """One cell of a notebook's file."""

    number: int  # its place, counted from 1
    kind: str  # code, markdown or raw
    source: str
    id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    outputs: tuple[dict[str, Any], ...] = ()
    count: int | None = None

    @property
    def tags(self) -> list[str]:
        """The cell's tags."""
        return self.metadata.get("tags", [])

    @property
    def nbgrader(self) -> dict[str, Any]:
        """What nbgrader is told about the cell; empty where it is told nothing."""
        return self.metadata.get("nbgrader", {})

    @property
    def statements(self) -> list[ast.stmt]:
        """The top-level statements of a code cell; none where it is not Python alone."""
        if self.kind != "code":
            return []
        try:
            return ast.parse(self.source).body
        except SyntaxError:
            return []

    def calls(self, name: str) -> bool:
        """Say whether the cell calls a function of this name."""
        nodes = [node for statement in self.statements for node in ast.walk(statement)]
        return any(isinstance(node, ast.Call) and _called(node) == name for node in nodes)

    @property
    def texts(self) -> list[str]:
        """The texts of all outputs: streams, each form of each result, and errors."""
        found = []
        for output in self.outputs:
            found.append(_text(output.get("text", "")))
            found += [_text(value) for value in output.get("data", {}).values()]
            found += [_text(output.get("evalue", "")), *output.get("traceback", [])]
        return found

    @property
    def html(self) -> str:
        """The HTML of all outputs."""
        return "\n".join(_text(output.get("data", {}).get("text/html", "")) for output in self.outputs)


@dataclass(frozen=True)
class Notebook:
    """A notebook's cells, and what the rules must know besides."""

    name: str
    cells: tuple[Cell, ...]
    size: int = 0  # bytes
    widgets: str = ""  # the widgets' HTML and other texts
    definitions: dict[str, str] = field(default_factory=dict)  # what course_lib.reference defines, by name

    @property
    def code(self) -> list[Cell]:
        """The code cells."""
        return [cell for cell in self.cells if cell.kind == "code"]

    @property
    def markdown(self) -> list[Cell]:
        """The markdown cells."""
        return [cell for cell in self.cells if cell.kind == "markdown"]


def load(path: Path, root: Path) -> Notebook:
    """Read a notebook's file as it is, with the definitions of the checkout that it belongs to."""
    text = path.read_text(encoding="utf-8")
    raw = json.loads(text)
    cells = [
        Cell(
            number,
            cell["cell_type"],
            "".join(cell["source"]),
            cell.get("id"),
            cell.get("metadata", {}),
            tuple(cell.get("outputs", ())),
            cell.get("execution_count"),
        )
        for number, cell in enumerate(raw["cells"], start=1)
    ]
    state = raw.get("metadata", {}).get("widgets", {}).get(STATE, {}).get("state", {})
    values = [value for model in state.values() for value in model.get("state", {}).values()]
    # Longer texts only: an anywidget's script is not what a reader is shown.
    widgets = "\n".join(value for value in values if isinstance(value, str) and value.lstrip().startswith("<"))
    return Notebook(path.name, tuple(cells), len(text.encode()), widgets, definitions(root))


def definitions(root: Path) -> dict[str, str]:
    """Return the syntax of each function of `course_lib.reference`, by its name."""
    found = {}
    for path in sorted((root / "course_lib" / "reference").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = syntax(node)
    return found


def syntax(function: ast.FunctionDef) -> str:
    """Return what a function does, as its syntax tree without the docstring and the annotations.

    >>> a = ast.parse("def f(x: int) -> int:\\n    'Twice x.'\\n    return 2 * x").body[0]
    >>> syntax(a) == syntax(ast.parse("def f(x): return 2*x").body[0])
    True
    """
    copy = ast.parse(ast.unparse(function)).body[0]
    if ast.get_docstring(copy) is not None:
        copy.body = copy.body[1:]
    return ast.dump(_Bare().visit(copy))


class _Bare(ast.NodeTransformer):
    """Takes the annotations out of a syntax tree."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return ast.Assign([node.target], node.value) if node.value else node


def without_images(text: str) -> str:
    """Take the bytes of pictures out of a text: they can spell anything."""
    return IMAGE_DATA.sub("", text)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else json.dumps(value)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
