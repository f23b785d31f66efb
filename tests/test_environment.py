"""environment.yml and pyproject.toml ask for the same packages in the same bounds."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
LEFT_OUT = ("datasets", "benchmarks", "dask")  # extras that few want
yaml = pytest.importorskip("yaml")


def of_pyproject():
    """Name and bounds of every package, markers left aside: what conda serves it serves everywhere."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [f"python{project['requires-python']}", *project["dependencies"]]
    extras = project["optional-dependencies"]
    lines += [line for name, extra in extras.items() if name not in LEFT_OUT for line in extra]
    return dict(re.fullmatch(r"([\w.-]+?)([<>=!~].*)", line.split(";")[0].replace(" ", "")).groups() for line in lines)


def of_environment():
    """The same of environment.yml, from both of its lists."""
    lines = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    (from_pip,) = [line["pip"] for line in lines if isinstance(line, dict)]
    plain = [line for line in lines if isinstance(line, str)] + [line for line in from_pip if line != "-e ."]
    pypi_names = {conda: name for name, conda in CONDA_NAMES.items()}
    pairs = (re.fullmatch(r"([\w.-]+)(?: (\S+))?", line).groups(default="") for line in plain)
    return {pypi_names.get(name, name): bounds for name, bounds in pairs if name != "pip"}


def test_conda_users_get_the_same_packages_in_the_same_bounds():
    assert of_environment() == of_pyproject()


def test_the_checkout_itself_is_installed_editable():
    lines = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    assert "-e ." in lines[-1]["pip"]


def test_every_package_has_a_lower_bound_and_an_upper_one():
    for name, bounds in of_pyproject().items():
        assert re.fullmatch(r">=[\d.]+,<[\d.]+", bounds), f"{name}{bounds}"


def test_conda_can_read_every_line():
    rattler = pytest.importorskip("rattler", reason="no py-rattler: conda's own reading of the file is not tried")
    for line in yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]:
        if isinstance(line, str):
            assert rattler.MatchSpec(line, strict=True).name is not None
