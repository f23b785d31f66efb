"""Time and memory of attention against the length n: the formula written out, and the fused kernel.

    python3 benchmarks/attention_memory.py            n up to 4,096
    python3 benchmarks/attention_memory.py --quick    n up to 512

One layer, 4 heads of 64, batch 1, forward and backward, causal. The written-out path keeps n × n weights in memory, the
fused one never makes them. Each measurement has a process of its own, whose peak above its start is the memory; on a
GPU it is what the allocator reached.
"""

import argparse
import json
import subprocess
import sys

import measure
import torch

LENGTHS = (128, 256, 512, 1024, 2048, 4096)
PATHS = ("written out", "fused")


def attend(path: str, Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Return causal attention by one of the two paths."""
    if path == "fused":
        return torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=True)
    n = Q.shape[-2]
    scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5  # (batch, head, query, key)
    hidden = torch.ones(n, n, dtype=torch.bool, device=Q.device).triu(1)
    return scores.masked_fill(hidden, -1e9).softmax(dim=-1) @ V


def one(path: str, n: int, known: argparse.Namespace) -> tuple[float, float]:
    """Return the median seconds and the peak megabytes of one path at one length, in this process."""
    clock = measure.Clock(known)
    generator = torch.Generator().manual_seed(0)
    Q, K, V = (torch.randn(1, 4, n, 64, generator=generator).to(known.device).requires_grad_() for _ in range(3))

    def run() -> list[float]:
        start = clock()
        attend(path, Q, K, V).sum().backward()
        seconds = clock() - start
        Q.grad = K.grad = V.grad = None
        return [seconds]

    attend(path, *(x[:, :, :8] for x in (Q, K, V))).sum().backward()  # libraries load now
    before = _used(known.device)
    seconds = measure.interleaved(known.rounds, {path: run})[path][0]
    return seconds, (_peak(known.device) - before) / 1e6


def main() -> None:
    """Start a process for each measurement and print the table."""
    if len(sys.argv) > 2 and sys.argv[1] == "--one":
        path, n, options = sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
        known = argparse.Namespace(**options)
        measure.use_threads(known)
        print(json.dumps(one(path, n, known)))
        return
    known = measure.arguments(__doc__)
    measure.header(known)
    rows = []
    for n in LENGTHS[:3] if known.quick else LENGTHS:
        row = [f"{n:,}"]
        for path in PATHS:
            command = [sys.executable, __file__, "--one", path, str(n), json.dumps(vars(known))]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            seconds, megabytes = json.loads(output)
            row += [f"{1000 * seconds:.1f}", f"{megabytes:.1f}"]
        rows.append([*row, f"{float(row[1]) / float(row[3]):.1f}"])
    measure.table(["n", "written out ms", "MB", "fused ms", "MB", "times faster"], rows)


def _used(device: str) -> float:
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        return torch.cuda.memory_allocated()
    return _peak(device)


def _peak(device: str) -> float:
    """Return bytes: the most that this process has ever held."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    main()
