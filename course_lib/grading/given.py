"""What of the course a submission may import: what the cells of its released exercise import, and nothing else.

The sandbox holds no file of the course. The student side gets these modules as texts: from a library module only the
definitions that were asked for and what they need, so that no answer stands beside them; for what draws, shows or
checks a stand-in that does nothing, for it earns no points and would cost time.
"""

import ast
import importlib.util
import json
from collections.abc import Iterable
from pathlib import Path

from course_lib.grading import rules
from course_lib.grading.cells import compiled

SILENT = '''
class _Silent:
    """Stands for whatever the course would show here: it takes everything, and gives itself back."""
    passed, message, status, mistake = True, "", "graded later", None
    def _itself(self, *args, **options):
        return self
    __call__ = __getattr__ = __getitem__ = __enter__ = __add__ = __radd__ = _itself
    def __iter__(self):
        return iter(())
    def __exit__(self, *error):
        return False
    def __repr__(self):
        return ""

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Silent()
'''
SILENT_MODULES = ("checks", "plots", "widgets", "predict")


def code_cells(exercise: Path) -> list[str]:
    """Return the code cells of a released exercise."""
    cells = json.loads(exercise.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def given_names(cells: Iterable[str]) -> dict[str, list[str]]:
    """Return what these cells import from the course: names by module.

    >>> given_names(["from course_lib.reference.attention import softmax"])
    {'course_lib.reference.attention': ['softmax']}
    """
    return {module: sorted(names) for module, names in rules.imported_names(map(_parsed, cells)).items()}


def given_modules(given: dict[str, list[str]]) -> dict[str, str]:
    """Return the modules that the student side may import, by name, each as its whole text.

    >>> text = given_modules({"course_lib.reference.attention": ["softmax"]})["course_lib.reference.attention"]
    >>> "def softmax" in text, "def attention" in text
    (True, False)

    Raises:
        ValueError: if the course has no such module.
    """
    wanted: dict[str, set[str]] = {}
    waiting = [(module, set(names)) for module, names in given.items()]
    while waiting:
        module, names = waiting.pop()
        if _is_silent(module) or names <= wanted.get(module, set()):
            wanted.setdefault(module, set())
            continue
        submodules = {name for name in names if _path(f"{module}.{name}")}
        waiting += [(f"{module}.{name}", {"*"}) for name in submodules]
        wanted.setdefault(module, set()).update(names - submodules)
        needed = rules.imported_names([ast.parse(_kept(_source(module), wanted[module]))])
        waiting += [(other, more) for other, more in needed.items()]
    modules = {name: SILENT if _is_silent(name) else _kept(_source(name), names) for name, names in wanted.items()}
    for name in list(modules):
        for parent in _parents(name):
            modules.setdefault(parent, SILENT if _is_silent(parent) else "")
    return modules


def preloads(texts: Iterable[str]) -> tuple[str, ...]:
    """Return what these texts import from elsewhere: the sandbox imports it once for everybody.

    >>> preloads(["import torch.nn as nn", "from course_lib.checks import check"])
    ('numpy', 'torch.nn')
    """
    found = {"numpy"}
    for text in texts:
        for node in ast.walk(_parsed(text)):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
    return tuple(sorted(name for name in found if name.split(".")[0] != rules.OWN))


def _parsed(cell: str) -> ast.Module:
    return ast.parse(compiled(cell, "cell")[1])


def _is_silent(module: str) -> bool:
    return module.split(".")[1:2] != [] and module.split(".")[1] in SILENT_MODULES


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


def _path(module: str) -> Path | None:
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(found.origin) if found and found.origin else None


def _source(module: str) -> str:
    path = _path(module)
    if path is None:
        raise ValueError(f"exercise: it imports {module}, which the course does not have")
    return path.read_text(encoding="utf-8")


def _kept(source: str, names: Iterable[str]) -> str:
    """Keep of a module its imports, the definitions of `names`, and what these mention; `*` keeps all of it."""
    names = set(names)
    if "*" in names:
        return source
    tree = ast.parse(source)
    kept: set[ast.stmt] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        for node in tree.body:
            if node not in kept and name in _bound(node):
                kept.add(node)
                waiting |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    tree.body = [node for node in tree.body if node in kept]
    return ast.unparse(tree)


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement of a module binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}
