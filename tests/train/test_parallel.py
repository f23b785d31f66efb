"""Two processes that share each batch train as one process does, through `torchrun` and the command line."""

import json
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

if not torch.distributed.is_available():
    pytest.skip("this PyTorch was built without torch.distributed", allow_module_level=True)

OPTIONS = """--preset tiny --task number-words --N 1 --d-model 16 --d-ff 32 --steps 12 --warmup 3 --log-every 1
--sentences 15 --smoothing 0.1 --pairs 150 --held-out 20 --below 1000 --validate-every 6 --device cpu""".split()


def losses(out, launcher, *more):
    command = [sys.executable, *launcher, "-m", "course_lib.cli", "train", *OPTIONS, "--out", str(out), *more]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return np.array([line.get("loss", line.get("held_out_loss")) for line in lines]), run.stdout


def test_two_processes_give_the_losses_of_one_with_the_same_batch(tmp_path):
    two = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    together, words = losses(tmp_path / "two", two, "--accumulate", "2")
    alone, _ = losses(tmp_path / "one", [])
    assert len(alone) == 14
    assert np.allclose(together, alone, atol=1e-5)  # 15 sentences do not divide by 4: unequal shares of tokens
    assert words.count("held-out exact match") == 1  # one process speaks for all
