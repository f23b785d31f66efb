"""A run that is killed at the worst moments goes on to the same losses and the same weights, bit for bit."""

import json
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

SCRIPT = Path(__file__).with_name("small_run.py")
MOMENTS = ["while a checkpoint is written", "before a checkpoint gets its name", "in the middle of a line of metrics"]
KILLED = -signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM


def metrics_of(out):
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "tokens_per_second"} for line in lines]


def start(out, moment):
    return subprocess.Popen([sys.executable, str(SCRIPT), str(out), moment], stdout=subprocess.DEVNULL)


def last_checkpoint(out):
    return max((path.name for path in out.glob("checkpoints/step-*.safetensors")), default="none")


def test_a_run_that_is_killed_four_times_ends_as_if_nothing_had_been(tmp_path):
    run = runpy.run_path(str(SCRIPT))["run"]
    killed, left = tmp_path / "killed", []
    for moment in MOMENTS:
        assert start(killed, moment).wait(120) == KILLED
        left.append(last_checkpoint(killed))
    assert left == ["step-00000005.safetensors", "step-00000010.safetensors", "step-00000015.safetensors"]

    process = start(killed, "whenever")
    while '"step": 19' not in (killed / "metrics.jsonl").read_text():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()

    weights, expected = run(killed), run(tmp_path / "whole")
    assert metrics_of(killed) == metrics_of(tmp_path / "whole")
    assert all(torch.equal(weights[name], expected[name]) for name in expected)
