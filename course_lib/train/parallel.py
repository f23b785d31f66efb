"""Several processes that train one model: what `torchrun` starts. Alone, everything here does nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class World:
    """Which process this is, and of how many."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0  # on this machine: its GPU

    @property
    def leads(self) -> bool:
        """Whether this process writes and speaks for all."""
        return self.rank == 0


def world() -> World:
    """Read what `torchrun` has put into the environment."""
    return World(
        *(int(os.environ.get(name, default)) for name, default in (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", 0)))
    )


@contextmanager
def joined(device: str) -> Iterator[World]:
    """Meet the other processes, and part again at the end of the block."""
    here = world()
    if here.size == 1 or dist.is_initialized():
        yield here
        return
    if device == "cuda":
        torch.cuda.set_device(here.local_rank)
    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    try:
        yield here
    finally:
        dist.destroy_process_group()


def wrap(model: nn.Module, here: World, device: torch.device) -> nn.Module:
    """Let the processes average their gradients after each backward pass."""
    if here.size == 1:
        return model
    return nn.parallel.DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None)


def quiet(model: nn.Module, last: bool):
    """Average no gradients yet, unless this is the last part of a step."""
    return nullcontext() if last or not hasattr(model, "no_sync") else model.no_sync()


def total(number: Tensor, here: World) -> Tensor:
    """Add a tensor up over all processes."""
    if here.size > 1:
        dist.all_reduce(number)
    return number


def from_leader(number: float, here: World, device: torch.device) -> float:
    """Return the leader's number in every process."""
    if here.size == 1:
        return number
    box = torch.tensor([number], dtype=torch.float64 if device.type != "mps" else torch.float32, device=device)
    dist.broadcast(box, 0)
    return box.item()


def gathered(state: Tensor, here: World, device: torch.device) -> Tensor:
    """Stack a tensor of every process, (process, …): the random states."""
    if here.size == 1:
        return state[None]
    boxes = [torch.empty_like(state, device=device) for _ in range(here.size)]
    dist.all_gather(boxes, state.to(device))
    return torch.stack(boxes).cpu()


def wait(here: World) -> None:
    """Wait until every process has come here."""
    if here.size > 1:
        dist.barrier()
