"""What the text of a submission says, read from its syntax tree: names that it may not use, and what it imports.

Runs on the student side, before any submitted line: reading a hostile text may need more memory or time than there is,
and then it is the submission that fails, not the grader.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence

OWN = "course_lib"


def imported_names(trees: Iterable[ast.AST]) -> dict[str, set[str]]:
    """Return which names are imported from which module of the course; `*` stands for the module itself.

    >>> imported_names([ast.parse("from course_lib.reference.attention import softmax")])
    {'course_lib.reference.attention': {'softmax'}}
    """
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] == OWN:
                        found.setdefault(alias.name, set()).add("*")
            elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == OWN:
                found.setdefault(node.module, set()).update(alias.name for alias in node.names)
    return found


def foreign_imports(trees: Iterable[ast.AST], given: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is imported from the course beyond what the exercise's own cells import.

    >>> foreign_imports([ast.parse("from course_lib.reference import attention")], {})
    ['course_lib.reference.attention']
    """
    found = []
    for module, names in imported_names(trees).items():
        for name in sorted(names):
            whole = module if name == "*" else f"{module}.{name}"
            if not ({name, "*"} & set(given.get(module, ())) or "*" in given.get(whole, ())):
                found.append(whole)
    return found


def forbidden_uses(trees: Sequence[ast.AST], function: str, forbidden: Sequence[str]) -> list[str]:
    """Return which forbidden names the function uses, itself or through other functions and names of the notebook.

    An alias is followed (`import torch as t`, `from torch import softmax as s`). An entry such as `.softmax` stands for
    a method of that name on whatever object.

    >>> tree = ast.parse("import torch as t\\ndef f(x): return g(x)\\ndef g(x): return t.softmax(x, -1)")
    >>> forbidden_uses([tree], "f", ["torch.softmax", ".exp"])
    ['torch.softmax']
    """
    if not forbidden:
        return []
    definitions: dict[str, list[ast.AST]] = {}
    aliases: dict[str, str] = {}
    for tree in trees:
        for node in ast.walk(tree):
            _note_aliases(node, aliases)
        for node in ast.iter_child_nodes(tree):
            for name in _defined(node):
                definitions.setdefault(name, []).append(node)
    used = set()
    for node in _reachable(function, definitions):
        if isinstance(node, ast.Attribute):
            used |= {"." + node.attr, _dotted(node, aliases)}
        elif isinstance(node, ast.Name):
            used.add(aliases.get(node.id, node.id))
        elif isinstance(node, ast.MatMult):
            used.add("@")
    return [name for name in forbidden if name in used]


def _note_aliases(node: ast.AST, aliases: dict[str, str]) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            aliases[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else alias.name.split(".")[0]
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"


def _defined(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _reachable(function: str, definitions: Mapping[str, list[ast.AST]]) -> Iterable[ast.AST]:
    """Walk the function's definitions, and those of each name of the notebook that they mention."""
    waiting, seen = [function], {function}
    while waiting:
        for definition in definitions.get(waiting.pop(), ()):
            for node in ast.walk(definition):
                yield node
                if isinstance(node, ast.Name) and node.id in definitions and node.id not in seen:
                    seen.add(node.id)
                    waiting.append(node.id)


def _dotted(node: ast.AST, aliases: Mapping[str, str]) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([aliases.get(node.id, node.id), *reversed(parts)])
