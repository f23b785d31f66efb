"""The shape of the code base: README's tree, who imports whom, documentation, formatting, nothing personal."""

import ast
import fnmatch
import graphlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "course_lib"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "templates" not in path.parts)
README = (ROOT / "README.md").read_text(encoding="utf-8")

# What a part of the package may import besides the standard library and itself. Libraries by their name, parts of the
# package with a dot before it. A part that is not listed may import nothing.
MAY_IMPORT = {
    "reference": {"numpy", "jaxtyping"},
    "model": {"torch", "jaxtyping"},
    "data": {"numpy", "jaxtyping", "num2words", "tokenizers", "datasets"},
    "training": {"numpy", "torch"},
    "device": {"torch"},
    "experiments": {"numpy", "torch", ".data", ".model", ".train", ".training"},
    "plots": {"numpy", "matplotlib", ".reference", ".data"},
    "widgets": {"numpy", "ipywidgets", "anywidget", "traitlets", "IPython", ".plots", ".reference"},
    "checks": {"numpy", "IPython", ".reference", ".progress"},
    "train": {"numpy", "torch", "safetensors", "sacrebleu", "tqdm", ".data", ".model", ".reference", ".training"},
    "grading": {"numpy", "torch", "nbformat", "nbgrader", "distributed", ".checks", ".authoring", ".progress"},
    "progress": set(),
    "predict": {"numpy"},
    "authoring": {"nbformat", "nbclient", "nbconvert", "nbgrader", "jupyter_client", "traitlets"},
    "readme": {".authoring"},
    "diagnosis": set(),
    "bootstrap": {".diagnosis"},
    "cli": {".bootstrap", ".commands", ".grading"},
    "commands": set(),
    "__main__": set(),
    "__init__": set(),
}
BROUGHT_BY = {  # imported, and always there because another package needs it
    "IPython": "ipykernel",
    "traitlets": "ipykernel",
    "jupyter_client": "ipykernel",
    "nbconvert": "jupyterlab",
}
BEFORE_THE_INSTALL = ("__init__", "__main__", "bootstrap", "diagnosis", "cli", "commands")
SITS_ON_TOP = {"cli", "__main__", "bootstrap", "commands"}  # may import anything of the package inside functions


def part(path):
    """The part of the package that a module belongs to: its folder, or its own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree, everywhere):
    """Full names of what a module imports, at its top level or everywhere."""
    nodes = ast.walk(tree) if everywhere else outside_functions(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            yield node.module
            if node.module.startswith("course_lib"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def outside_functions(node):
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from outside_functions(child)


def foreign(path, everywhere=True):
    """What a module imports besides the standard library and its own part, written as in MAY_IMPORT."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for name in imports(tree, everywhere):
        first, *rest = name.split(".")
        if first == "course_lib" and rest and rest[0] != part(path):
            found.add(f".{rest[0]}")
        elif first != "course_lib" and first not in sys.stdlib_module_names:
            found.add(first)
    return found


def label(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_a_module_imports_only_what_its_part_may(path):
    everywhere = part(path) not in SITS_ON_TOP
    extra = foreign(path, everywhere) - MAY_IMPORT.get(part(path), set())
    if part(path) == "authoring":  # it serves the commands: it may ask other parts inside its functions
        extra = {name for name in extra if not name.startswith(".") or name in foreign(path, everywhere=False)}
    assert not extra, f"{label(path)} must not import {', '.join(sorted(extra))}"


def test_every_library_that_is_imported_is_asked_for_in_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["dependencies"] + [line for extra in project["optional-dependencies"].values() for line in extra]
    asked_for = {re.match(r"[\w.-]+", line)[0] for line in lines}
    imported = {name for path in MODULES for name in foreign(path) if name[0] != "."}
    assert {name for name in imported if BROUGHT_BY.get(name, name) not in asked_for} == set()


@pytest.mark.parametrize("name", BEFORE_THE_INSTALL)
def test_what_runs_before_the_install_needs_the_standard_library_alone(name):
    paths = [path for path in MODULES if part(path) == name]
    assert paths
    for path in paths:
        assert {library for library in foreign(path, everywhere=False) if library[0] != "."} == set()


def test_no_module_imports_itself_in_a_circle():
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES}
    graph = {}
    for name, path in names.items():
        found = set(imports(ast.parse(path.read_text(encoding="utf-8")), everywhere=False))
        graph[name] = {other for other in found if other in names and other not in (name, "course_lib")}
    tuple(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError, with the circle


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_no_star_imports(path):
    stars = [
        node.module
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    ]
    assert not stars


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_every_public_name_is_documented(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = [] if ast.get_docstring(tree) else ["the module"]
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    for scope in (tree, *classes):
        named = [
            node for node in scope.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"
        ]
        bare += [node.name for node in named if not ast.get_docstring(node) and not overrides(scope, node)]
    assert not bare, f"{label(path)}: no docstring on {', '.join(bare)}"


def overrides(scope, node):
    """A method of a class with bases may be documented there: nn.Module's forward, say."""
    return isinstance(scope, ast.ClassDef) and bool(scope.bases) and isinstance(node, ast.FunctionDef)


def tree_of_readme():
    """Names of the block under "What is where": top level, and those inside course_lib."""
    block = re.search(r"## What is where\n+```\n([\s\S]+?)```", README)[1]
    top = re.findall(r"^(\S+)  +\S", block, re.MULTILINE)
    inside = re.findall(r"^  (\S+)  +\S", block, re.MULTILINE)
    return top, inside


def on_disk(folder):
    """What lies in a folder, less what git ignores, folders with a slash."""
    ignored = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split() if line[0] != "#"]
    there = [path for path in folder.iterdir() if path.name != ".git" and not empty(path)]
    names = [path.name + "/" * path.is_dir() for path in there]
    return [name for name in names if not any(fnmatch.fnmatch(name.rstrip("/"), pattern) for pattern in ignored)]


def empty(path):
    """A folder without a file, which git does not keep."""
    return path.is_dir() and not any(inside.is_file() for inside in path.rglob("*"))


def test_the_tree_in_readme_is_what_is_there():
    top, inside = tree_of_readme()
    for told, there in ((top, on_disk(ROOT)), (inside, on_disk(PACKAGE))):
        assert len(told) == len(set(told))
        assert set(told) - set(there) == set(), "README's tree names what is not there"
        assert set(there) - set(told) == set(), "README's tree does not name these"


def files():
    folders = [ROOT / name for name in ("course_lib", "tests", "notebooks", "solutions", "exercises", ".ci", ".github")]
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    found += [path for path in ROOT.iterdir() if path.is_file()]
    skipped = {"__pycache__", ".ipynb_checkpoints"}
    return sorted(path for path in found if not skipped & set(path.parts) and path.suffix not in {".png", ".pyc"})


def places_of_this_machine():
    """Folders that a file would name only if it was written on this machine."""
    shared = {Path(name) for name in ("/", "/usr", "/usr/local", "/opt", tempfile.gettempdir())}
    places = {ROOT, Path.home(), Path(sys.prefix), Path(sys.base_prefix)} - shared
    return [str(place) for place in places]


def test_no_file_names_a_place_of_this_machine():
    here = [re.escape(place) + r"(?![\w-])" for place in places_of_this_machine()]
    anywhere = [r"/home/\w+/", r"/Users/\w+/", r"C:\\+Users\\+\w"]
    named = {}
    for path in files():
        patterns = here if "tests" in path.parts else here + anywhere  # a test may make a place up
        if found := re.search("|".join(patterns), path.read_text(encoding="utf-8")):
            named[label(path)] = found[0]
    assert not named


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_has_nothing_to_say(arguments):
    command = [sys.executable, "-m", "ruff", *arguments, "course_lib", "tests", "notebooks", "solutions", "conftest.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_script_of_ci_is_bash_and_calls_the_test_command_of_readme():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "\npython3 -m course_lib test " in README
    assert script.rstrip().endswith("exec python3 -m course_lib test")
    bash = shutil.which("bash")
    if bash is None or sys.platform == "win32":
        pytest.skip("no bash: the script of CI is not read")
    subprocess.run([bash, "-n", str(ROOT / ".ci" / "run")], check=True)


def test_the_hosted_workflow_runs_the_same_command_on_three_systems():
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["test"]
    assert {name.split("-")[0] for name in job["strategy"]["matrix"]["system"]} == {"ubuntu", "macos", "windows"}
    assert job["steps"][-1]["run"] == "python -m course_lib test"
