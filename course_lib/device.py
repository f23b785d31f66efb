"""What this machine computes with, in one sentence for lesson 00.

PyTorch is looked for inside the function only: the first lessons need NumPy alone, and on a machine for which there is
no PyTorch (a Mac with an Intel processor, Windows on ARM) they must run all the same.
"""

import os


def describe_device() -> str:
    """Say how many CPU cores there are, and whether PyTorch is installed and found a GPU.

    >>> "CPU core" in describe_device()
    True
    """
    cores = _cores()
    found = f"{cores} CPU core{'s' if cores > 1 else ''}"
    try:
        import torch
    except (ImportError, OSError):  # OSError: an installed PyTorch whose own libraries do not load
        return f"{found}. PyTorch is not installed: what needs NumPy alone runs all the same, training does not."
    with_torch = f"{found}, PyTorch {torch.__version__.split('+')[0]}"
    if torch.cuda.is_available():
        return f"{with_torch}, and a GPU that it can use through CUDA: {torch.cuda.get_device_name(0)}."
    if torch.backends.mps.is_available():
        return f"{with_torch}, and the Mac's own GPU, which it can use through MPS."
    return f"{with_torch}, and no GPU that it can use. The course needs none."


def _cores() -> int:
    """Count the cores that this process may use, not those that the machine has, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
