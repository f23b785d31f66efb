"""Checkpoints that survive a power cut: one safetensors file each, written aside and then renamed, with a checksum.

A file holds the model, the optimizer and the random states as tensors, and the rest of the state (step, place in the
data, early stopping, loss scale) as JSON in its header. No pickle: loading a file of someone else's runs no code.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

PREFIXES = ("module.", "_orig_mod.")  # what wrappers for several processes and for compiling put in front of names


class TornCheckpoint(ValueError):
    """A file that is not what was written."""


def write(path: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Write a file under another name, wait until it is on the disk, and rename it: it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.detach().to("cpu").contiguous() for name, tensor in tensors.items()}
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    save_file(tensors, aside, {"state": json.dumps(state), "crc32": str(_checksum(tensors))})
    with open(aside, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(aside, path)
    if hasattr(os, "O_DIRECTORY"):  # the new name must be on the disk too
        folder = os.open(path.parent, os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the state of a file.

    Raises:
        TornCheckpoint: if the file is cut short or a byte of it has changed.
    """
    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            header = file.metadata() or {}
        state = json.loads(header["state"])
        whole = int(header["crc32"]) == _checksum(tensors)
    except (SafetensorError, KeyError, ValueError) as error:
        raise TornCheckpoint(f"{path}: wanted a whole checkpoint, got one that is torn ({error})") from None
    if not whole:
        raise TornCheckpoint(f"{path}: wanted a whole checkpoint, got one whose checksum does not fit")
    return tensors, state


def path_of(folder: Path, step: int) -> Path:
    """Return the name of the checkpoint of a step."""
    return folder / f"step-{step:08d}.safetensors"


def find(folder: Path) -> list[Path]:
    """Return the checkpoints of a folder, the newest last."""
    return sorted(folder.glob("step-????????.safetensors"))


def newest(folder: Path, say: Callable[[str], None] = print) -> tuple[Path, dict[str, Tensor], dict[str, Any]] | None:
    """Return the newest checkpoint that is whole, or None; each torn one is named to `say`."""
    for path in reversed(find(folder)):
        try:
            return path, *read(path)
        except TornCheckpoint as error:
            say(f"{error}. Going back to the one before it.")
    return None


def tidy(folder: Path, keep: int) -> None:
    """Remove all but the last `keep` checkpoints, and what an interrupted write has left."""
    for path in [*find(folder)[:-keep], *folder.glob("*.part")]:
        path.unlink(missing_ok=True)


def average(paths: Iterable[Path]) -> dict[str, Tensor]:
    """Return the mean of the models in some checkpoints (Vaswani et al. 2017, section 6.1, take the last 5 or 20)."""
    total: dict[str, Tensor] = {}
    count = 0
    for path in paths:
        tensors, _ = read(path)
        for name, tensor in select(tensors, "model.").items():
            total[name] = total[name] + tensor.double() if name in total else tensor.double()
        count += 1
    if not count:
        raise ValueError("paths: wanted at least one checkpoint, got none")
    return {name: (tensor / count).float() for name, tensor in total.items()}


def select(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin so, without that beginning."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def weights(model: nn.Module) -> dict[str, Tensor]:
    """Return the parameters by name; a matrix that is used in several places comes once."""
    return {strip(name): parameter for name, parameter in model.named_parameters()}


def strip(name: str) -> str:
    """Take off what DistributedDataParallel and `torch.compile` put in front of a parameter's name.

    >>> strip("module._orig_mod.source.words.weight")
    'source.words.weight'
    """
    while name.startswith(PREFIXES):
        for prefix in PREFIXES:
            name = name.removeprefix(prefix)
    return name


def load_weights(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Copy tensors into the parameters of the same names.

    Raises:
        ValueError: if names or shapes differ; the message says which.
    """
    own, given = weights(model), {strip(name): tensor for name, tensor in tensors.items()}
    if own.keys() != given.keys():
        missing, strange = sorted(own.keys() - given.keys()), sorted(given.keys() - own.keys())
        raise ValueError(f"weights: wanted the model's own names, got none of {missing[:3]} and besides {strange[:3]}")
    for name, parameter in own.items():
        if parameter.shape != given[name].shape:
            raise ValueError(f"{name}: wanted {tuple(parameter.shape)}, got {tuple(given[name].shape)}")
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(given[name])


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return what the optimizer remembers of each parameter, by the parameter's name."""
    return {
        f"{name}|{key}": value
        for name, parameter in weights(model).items()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def load_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Give the optimizer its memory of each parameter back."""
    own = weights(model)
    for name, tensor in tensors.items():
        parameter, key = own[name.split("|")[0]], name.split("|")[1]
        optimizer.state[parameter][key] = tensor.to(parameter.device).clone()


def _checksum(tensors: dict[str, Tensor]) -> int:
    total = 0
    for name in sorted(tensors):
        total = zlib.crc32(name.encode(), total)
        total = zlib.crc32(tensors[name].reshape(-1).view(torch.uint8).numpy(), total)
    return total
