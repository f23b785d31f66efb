"""The rules of a lesson: how it opens and closes, how long its cells are, and how it uses names.

The reasons stand in the course's style; the numbers here are its bounds, not its aims.
"""

import ast
import re
from collections.abc import Iterator
from statistics import median

from course_lib.authoring.cells import Cell, Notebook, syntax

MOST_LINES = 15  # of code in a cell
MOST_MEDIAN_LINES = 5
MOST_NAMES = 28
LEAST_PROSE = 0.4  # of the cells


def opens_as_a_lesson(notebook: Notebook) -> list[str]:
    """The first cell has the title, what we will do, what it needs and how long it takes; the second the imports."""
    if len(notebook.cells) < 3:
        return [f"wanted at least three cells, got {len(notebook.cells)}"]
    first, second = notebook.cells[:2]
    wanted = {"# Title": r"^# \S", "In this lesson": r"In this lesson", "Needs": r"Needs", "minutes": r"\d+\s+min"}
    complaints = [f"cell 1: no {what}" for what, pattern in wanted.items() if not re.search(pattern, first.source)]
    if first.kind != "markdown":
        complaints.append("cell 1: wanted prose")
    if second.kind != "code" or not second.statements or not all(_is_import(node) for node in second.statements):
        complaints.append("cell 2: wanted code that imports and does nothing else")
    return complaints


def closes_as_a_lesson(notebook: Notebook) -> list[str]:
    """The last cell says what we showed and names the exercise."""
    last = notebook.cells[-1]
    wanted = {"## What we showed": r"^## What we showed", "name of the exercise": re.escape(notebook.name)}
    complaints = [
        f"cell {last.number}: no {what}"
        for what, pattern in wanted.items()
        if not re.search(pattern, last.source, re.MULTILINE)
    ]
    return complaints if last.kind == "markdown" else [*complaints, f"cell {last.number}: wanted prose"]


def cells_are_short(notebook: Notebook) -> list[str]:
    """No code cell has more than 15 lines, and half have five or fewer."""
    lengths = {cell.number: len([line for line in cell.source.split("\n") if line.strip()]) for cell in notebook.code}
    complaints = [
        f"cell {number}: {length} lines of code, wanted {MOST_LINES} at most"
        for number, length in lengths.items()
        if length > MOST_LINES
    ]
    if lengths and median(lengths.values()) > MOST_MEDIAN_LINES:
        complaints.append(f"the median cell has {median(lengths.values())} lines, wanted {MOST_MEDIAN_LINES} at most")
    return complaints


def never_three_code_cells_in_a_row(notebook: Notebook) -> list[str]:
    """Prose comes between: what is next and why."""
    triples = zip(notebook.cells, notebook.cells[1:], notebook.cells[2:], strict=False)
    return [
        f"cell {third.number}: the third code cell in a row"
        for *_, third in [triple for triple in triples if all(cell.kind == "code" for cell in triple)]
    ]


def prose_has_its_share(notebook: Notebook) -> list[str]:
    """At least two cells in five are prose."""
    share = len(notebook.markdown) / max(len(notebook.cells), 1)
    return [] if share >= LEAST_PROSE else [f"{share:.0%} of the cells are prose, wanted {LEAST_PROSE:.0%} at least"]


def imports_stand_in_the_second_cell(notebook: Notebook) -> list[str]:
    """One cell of imports, so that a reader who starts in the middle knows what to run."""
    return [
        f"cell {cell.number}: an import outside cell 2"
        for cell in notebook.code
        if cell.number != 2 and any(_is_import(node) for node in cell.statements)
    ]


def names_are_bound_once(notebook: Notebook) -> list[str]:
    """No cell gives a new value to a name of an earlier cell: cells can be run again in any order.

    A loop's variable may serve another loop again, and `_` anything.
    """
    owner: dict[str, int] = {}
    loops: dict[str, int] = {}
    complaints = []
    for cell in notebook.code:
        lasting, loop = bound_names(cell)
        for name in sorted(lasting):
            if owner.get(name) or loops.get(name):
                complaints.append(f"cell {cell.number}: {name} is bound in cell {owner.get(name) or loops[name]} too")
            owner.setdefault(name, cell.number)
        for name in sorted(loop - lasting):
            if owner.get(name, cell.number) != cell.number:
                complaints.append(f"cell {cell.number}: the loop takes {name}, which is bound in cell {owner[name]}")
            loops.setdefault(name, cell.number)
    return complaints


def names_are_few(notebook: Notebook) -> list[str]:
    """A reader can keep about 25 names in mind."""
    names = set().union(*[bound_names(cell)[0] for cell in notebook.code])
    return [] if len(names) <= MOST_NAMES else [f"{len(names)} names, wanted {MOST_NAMES} at most"]


def definitions_equal_the_reference(notebook: Notebook) -> list[str]:
    """A cell tagged `defines` holds one function, the same as that of its name in `course_lib.reference`."""
    complaints = []
    for cell in [cell for cell in notebook.cells if "defines" in cell.tags]:
        functions = [node for node in cell.statements if isinstance(node, ast.FunctionDef)]
        if len(functions) != 1 or len(cell.statements) != 1:
            complaints.append(f"cell {cell.number}: tagged defines; wanted one function and nothing else")
            continue
        name = functions[0].name
        if name not in notebook.definitions:
            complaints.append(f"cell {cell.number}: course_lib.reference defines no {name}")
        elif notebook.definitions[name] != syntax(functions[0]):
            complaints.append(f"cell {cell.number}: {name} differs from that of course_lib.reference")
    return complaints


LESSON_RULES = (
    opens_as_a_lesson,
    closes_as_a_lesson,
    cells_are_short,
    never_three_code_cells_in_a_row,
    prose_has_its_share,
    imports_stand_in_the_second_cell,
    names_are_bound_once,
    names_are_few,
    definitions_equal_the_reference,
)


def bound_names(cell: Cell) -> tuple[set[str], set[str]]:
    """Return the names that a cell binds for good, and those that only its loops bind; functions' own are neither."""
    lasting: set[str] = set()
    loop: set[str] = set()
    for node in _outside_functions([*cell.statements]):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            lasting.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            lasting |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.For | ast.AsyncFor):
            loop |= _targets(node.target)
        elif isinstance(node, ast.Assign):
            lasting |= {name for target in node.targets for name in _targets(target)}
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            lasting |= _targets(node.target)
        elif isinstance(node, ast.withitem) and node.optional_vars:
            lasting |= _targets(node.optional_vars)
    return lasting - {"_"}, loop - {"_"}


def _outside_functions(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _outside_functions([*ast.iter_child_nodes(node)])


def _targets(target: ast.expr) -> set[str]:
    """The plain names in a target: `a` and `b` of `a, b[0], *b = …`."""
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, ast.Tuple | ast.List):
        return set().union(*map(_targets, target.elts))
    return _targets(target.value) if isinstance(target, ast.Starred) else set()


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)
