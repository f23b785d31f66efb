"""`train` and `translate` as a learner types them."""

import io
import re

import pytest

torch = pytest.importorskip("torch")

from course_lib import cli  # noqa: E402

SIZES = ["--preset", "tiny", "--N", "1", "--d-model", "16", "--d-ff", "32"]
SHORT = [*SIZES, *"--steps 6 --warmup 2 --log-every 2 --sentences 8 --device cpu".split()]
NUMBERS = [*SHORT, "--task", "number-words", "--pairs", "40", "--held-out", "8", "--below", "500"]


def test_a_run_ends_with_its_figures_and_its_result_translates(tmp_path, capsys):
    out = tmp_path / "run"
    assert cli.main(["train", *NUMBERS, "--out", str(out)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"held-out exact match \d\.\d{3} of 8", printed[-1])
    assert sorted(path.name for path in out.iterdir() if path.name != "tensorboard") == [
        "checkpoints", "metrics.jsonl", "model.safetensors", "run.json",
    ]  # fmt: skip
    assert cli.main(["translate", "--run", str(out), "forty-two", "7"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO("one\n\nseven\n"))
        assert cli.main(["translate", "--run", str(out), "--beams", "2"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) == 4 and lines[1] == ""


def test_a_large_step_is_computed_in_parts_on_a_cpu_unless_told_otherwise(tmp_path, capsys):
    few = [*SIZES, *"--steps 1 --tokens 9000 --pairs 30 --held-out 4 --below 500 --device cpu".split()]
    assert cli.main(["train", *few, "--out", str(tmp_path / "parts")]) == 0
    assert "each step is computed in 3 parts" in capsys.readouterr().out
    assert cli.main(["train", *few, "--accumulate", "1", "--out", str(tmp_path / "whole")]) == 0
    assert "parts" not in capsys.readouterr().out


def test_a_finished_run_is_resumed_with_more_steps_and_the_options_of_before(tmp_path, capsys):
    out = tmp_path / "run"
    cli.main(["train", *NUMBERS, "--out", str(out)])
    assert cli.main(["train", "--resume", "--steps", "10", "--device", "cpu", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "going on from step 6" in printed and "40 training pairs, 8 held out" in printed


def test_a_folder_with_a_run_is_not_overwritten(tmp_path, capsys):
    cli.main(["train", *NUMBERS, "--out", str(tmp_path)])
    assert cli.main(["train", *NUMBERS, "--out", str(tmp_path)]) == 2
    assert "--resume goes on from them" in capsys.readouterr().err


@pytest.fixture
def texts(tmp_path):
    pytest.importorskip("tokenizers", reason="no tokenizers: install the extra `text`")
    pytest.importorskip("sacrebleu", reason="no sacrebleu: install the extra `text`")
    path = tmp_path / "pairs.tsv"
    path.write_text("a dog\tein Hund\nred\trot\n" * 10, encoding="utf-8")
    return path


def test_own_text_is_learned_with_byte_pairs_and_measured_in_bleu(texts, tmp_path, capsys):
    out = tmp_path / "run"
    command = ["train", *SHORT, "--task", "text-pairs", "--train", str(texts), "--valid", str(texts), "--out", str(out)]
    assert cli.main([*command, "--vocabulary", "280"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"held-out BLEU \d+\.\d of 20", printed[-2])
    assert re.fullmatch(r"held-out exact match \d\.\d{3} of 20", printed[-1])
    assert cli.main(["translate", "--run", str(out), "a dog"]) == 0


def test_a_bad_line_of_own_text_ends_the_command_with_its_number(texts, tmp_path, capsys):
    texts.write_text("a dog\tein Hund\nno tab\n", encoding="utf-8")
    command = ["train", *SHORT, "--task", "text-pairs", "--train", str(texts), "--valid", str(texts)]
    assert cli.main([*command, "--out", str(tmp_path / "run")]) == 2
    assert f"{texts}:2: wanted two texts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--task", "text-pairs", "--out", "{out}"], "--train: wanted with --task text-pairs"),
        (["train", "--dataset", "imaginary", "--out", "{out}"], "--dataset: wanted a folder or one of"),
        (["train", "--languages", "en", "nl", "--out", "{out}"], "language: wanted one of de, en, fr, got 'nl'"),
        (["train", "--steps", "0", "--out", "{out}"], "steps: wanted 1 or more, got 0"),
        (["translate", "--run", "{out}", "one"], "wanted the folder of a run"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(tmp_path, capsys, arguments, message):
    assert cli.main([argument.replace("{out}", str(tmp_path / "none")) for argument in arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_word_that_is_no_number_is_told_with_its_line(tmp_path, capsys, monkeypatch):
    cli.main(["train", *NUMBERS, "--out", str(tmp_path)])
    monkeypatch.setattr("sys.stdin", io.StringIO("one\nfoo\n"))
    assert cli.main(["translate", "--run", str(tmp_path)]) == 2
    assert "standard input, line 2: text: wanted number words" in capsys.readouterr().err


def test_the_command_line_itself_loads_no_torch():
    import subprocess
    import sys

    code = "import sys, course_lib.cli; course_lib.cli.parser(); print('torch' in sys.modules, 'numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
