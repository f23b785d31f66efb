"""Checkpoints: whole or refused, bit for bit, averaged, and free of pickle."""

import pytest

torch = pytest.importorskip("torch")

from course_lib.model.config import Config  # noqa: E402
from course_lib.model.transformer import Transformer  # noqa: E402
from course_lib.train import checkpoint  # noqa: E402


def tensors(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return {"model.a": torch.randn(3, 4, generator=generator), "random.0": torch.arange(9, dtype=torch.uint8)}


@pytest.fixture
def folder(tmp_path):
    for step in (10, 20, 30):
        checkpoint.write(checkpoint.path_of(tmp_path, step), tensors(step), {"step": step})
    return tmp_path


def test_what_is_read_is_what_was_written(folder):
    read, state = checkpoint.read(checkpoint.path_of(folder, 20))
    assert state == {"step": 20}
    assert read.keys() == tensors().keys() and all(torch.equal(read[name], tensors(20)[name]) for name in read)


def cut_short(data):
    return data[: len(data) // 2]


def one_byte_changed(data):
    return data[:-1] + bytes([data[-1] ^ 1])


def empty(data):
    return b""


def cut_in_the_header(data):
    return data[:20]


@pytest.mark.parametrize("damage", [cut_short, one_byte_changed, empty, cut_in_the_header])
def test_a_torn_checkpoint_is_named_and_the_one_before_is_used(folder, damage):
    path = checkpoint.path_of(folder, 30)
    path.write_bytes(damage(path.read_bytes()))
    said = []
    found, _, state = checkpoint.newest(folder, said.append)
    assert found == checkpoint.path_of(folder, 20) and state["step"] == 20
    assert len(said) == 1 and str(path) in said[0] and ("torn" in said[0] or "checksum" in said[0])


def test_where_all_are_torn_there_is_none(folder):
    for path in checkpoint.find(folder):
        path.write_bytes(b"")
    assert checkpoint.newest(folder, lambda text: None) is None


def test_an_interrupted_write_leaves_the_old_file_and_is_tidied_away(folder, monkeypatch):
    def interrupted(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.write(checkpoint.path_of(folder, 30), tensors(99), {"step": 99})
    assert checkpoint.newest(folder)[2] == {"step": 30}
    checkpoint.tidy(folder, 2)
    assert sorted(path.name[:13] for path in folder.iterdir()) == ["step-00000020", "step-00000030"]


def test_averaging_takes_the_mean_of_each_number(folder):
    mean = checkpoint.average(checkpoint.find(folder)[-2:])
    expected = (tensors(20)["model.a"].double() + tensors(30)["model.a"].double()) / 2
    assert torch.equal(mean["a"], expected.float()) and mean.keys() == {"a"}
    with pytest.raises(ValueError, match="at least one checkpoint"):
        checkpoint.average([])


def model(**sizes):
    return Transformer(Config(9, 9, **{"N": 1, "d_model": 8, "d_ff": 8, "h": 2, "longest": 8, **sizes}))


def test_tied_matrices_are_kept_once_and_come_back_tied():
    first, second = model(), model()
    kept = checkpoint.weights(first)
    assert sum(tensor.numel() for tensor in kept.values()) == sum(p.numel() for p in first.parameters())
    checkpoint.load_weights(second, kept)
    assert torch.equal(first.generator.weight, second.source.words.weight)
    assert second.generator.weight is second.target.words.weight


def test_names_of_wrapped_models_fit_too():
    first, second = model(), model()
    checkpoint.load_weights(second, {f"module._orig_mod.{name}": p for name, p in checkpoint.weights(first).items()})
    assert torch.equal(first.generator.weight, second.generator.weight)


def test_weights_of_another_model_are_refused():
    with pytest.raises(ValueError, match="wanted the model's own names"):
        checkpoint.load_weights(model(), checkpoint.weights(model(N=2)))
    with pytest.raises(ValueError, match=r"wanted \(9, 8\), got \(9, 12\)"):
        checkpoint.load_weights(model(), checkpoint.weights(model(d_model=12, h=2)))
