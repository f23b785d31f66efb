"""The sentence about the machine, on machines that are pretended."""

import builtins
import os
import subprocess
import sys
import types

import pytest

from course_lib.device import describe_device


def pretended_torch(cuda: bool, mps: bool) -> types.SimpleNamespace:
    return types.SimpleNamespace(
        __version__="2.13.0+cpu",
        cuda=types.SimpleNamespace(is_available=lambda: cuda, get_device_name=lambda index: f"Model {index}"),
        backends=types.SimpleNamespace(mps=types.SimpleNamespace(is_available=lambda: mps)),
    )


@pytest.mark.parametrize(
    ("cuda", "mps", "end"),
    [
        (True, False, "a GPU that it can use through CUDA: Model 0."),
        (False, True, "the Mac's own GPU, which it can use through MPS."),
        (False, False, "no GPU that it can use. The course needs none."),
    ],
)
def test_each_kind_of_device_is_named_in_plain_words(monkeypatch, cuda, mps, end):
    monkeypatch.setitem(sys.modules, "torch", pretended_torch(cuda, mps))
    sentence = describe_device()
    assert sentence.endswith(end)
    assert "PyTorch 2.13.0," in sentence  # without the build's suffix


@pytest.mark.parametrize("error", [ModuleNotFoundError("No module named 'torch'"), OSError("a library is missing")])
def test_without_a_working_torch_it_says_so_and_does_not_raise(monkeypatch, error):
    def refuse(name, *args, **kwargs):
        if name == "torch":
            raise error
        return importer(name, *args, **kwargs)

    importer = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", refuse)
    assert "PyTorch is not installed" in describe_device()


@pytest.mark.parametrize(("count", "words"), [(1, "1 CPU core,"), (8, "8 CPU cores,")])
def test_cores_are_counted_where_the_system_does_not_tell_which_are_ours(monkeypatch, count, words):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    monkeypatch.setitem(sys.modules, "torch", pretended_torch(cuda=False, mps=False))
    assert describe_device().startswith(words)


def test_what_lesson_00_imports_leaves_torch_alone():
    modules = ("device", "checks", "checks.start_here", "predict", "plots.start_here", "widgets.start_here")
    imports = "; ".join(f"import course_lib.{module}" for module in modules)
    code = f"import sys; {imports}; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
