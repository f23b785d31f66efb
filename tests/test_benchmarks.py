"""The speed benchmarks run as they stand here; what they measure proves nothing on a busy machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(name: str, *options: str) -> str:
    """Return what a benchmark prints."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / name), *options],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("training_speed.py", ["ours, fp32", "ours, default (fp32)", "nn.Transformer"]),
        ("decoding_speed.py", ["ours, fp32", "ours, no cache", "nn.Transformer"]),
        ("attention_memory.py", ["128", "256", "512"]),
    ],
)
def test_the_quick_run_prints_its_table(name, rows):
    pytest.importorskip("torch")
    lines = run(name, "--quick", "--rounds", "1", "--threads", "1").splitlines()
    for row in rows:
        assert any(line.startswith(row) for line in lines), (row, lines)
