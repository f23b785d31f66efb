"""Presets, and what is chosen on machines that are pretended."""

import pytest

torch = pytest.importorskip("torch")

from course_lib.train.options import OPTIONS, PAPER, Options, preset  # noqa: E402
from course_lib.train.precision import Machine, choose  # noqa: E402


@pytest.mark.parametrize(
    ("machine", "width", "precision"),
    [
        (Machine("cuda", True, (9, 0)), 512, "bf16"),
        (Machine("cuda", False, (7, 5)), 512, "fp16"),  # Turing has fp16 alone
        (Machine("cuda", False, (6, 1)), 512, "fp32"),  # Pascal's fp16 is slow
        (Machine("cuda", True, (9, 0)), 64, "fp32"),  # too narrow to pay
        (Machine("mps"), 512, "fp32"),
        (Machine("cpu", True), 512, "bf16"),
        (Machine("cpu", True), 64, "fp32"),
        (Machine("cpu", False), 512, "fp32"),
    ],
)
def test_the_number_format_follows_the_machine_and_the_width(machine, width, precision):
    assert choose(machine, width, steps=100_000).precision == precision


@pytest.mark.parametrize(
    ("device", "width", "steps", "compiled"),
    [
        ("cuda", 512, 100_000, True),
        ("cuda", 512, 100, False),
        ("cuda", 64, 100_000, False),
        ("cpu", 512, 100_000, False),
        ("mps", 512, 100_000, False),
    ],
)
def test_compiling_is_for_long_runs_of_wide_models_on_nvidia_gpus(device, width, steps, compiled):
    assert choose(Machine(device), width, steps).compile is compiled


def test_what_is_asked_for_is_obeyed():
    plan = choose(Machine("cpu"), 64, 10, "bf16", "on")
    assert plan.precision == "bf16" and plan.compile


def test_a_small_model_on_a_cpu_computes_on_one_thread_and_a_large_one_on_all():
    assert choose(Machine("cpu"), 64, 10).small and not choose(Machine("cpu"), 512, 10).small


def test_the_presets_of_the_paper_are_the_papers():
    config, options = preset("base", 37_000, 37_000)
    assert (config.N, config.d_model, config.d_ff, config.h) == (6, 512, 2048, 8)
    assert (config.dropout, config.norm) == (0.1, "post")
    assert options.rate(4000, config.d_model) == pytest.approx(6.988e-4, rel=1e-3)
    assert (options.smoothing, options.betas, options.average, options.tokens) == (0.1, (0.9, 0.98), 5, 25_000)
    config, options = preset("big", 37_000, 37_000)
    assert (config.d_model, config.dropout, options.steps, options.average) == (1024, 0.3, 300_000, 20)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_preset_fits_two_vocabularies_as_well_as_one(name):
    assert preset(name, 30, 40)[0].tied in ("output", "none")


def test_changes_go_where_they_belong_and_one_batch_size_replaces_the_other():
    config, options = preset("small", 30, 40, d_model=128, steps=7, sentences=16)
    assert config.d_model == 128 and options.steps == 7 and options.sentences == 16 and options.tokens is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 3}, "changes: wanted names of Config or Options, got width"),
        ({"steps": 0}, "steps: wanted 1 or more, got 0"),
        ({"schedule": "step"}, "schedule: wanted one of cosine, noam, got 'step'"),
        ({"smoothing": 1.0}, "smoothing: wanted 0 or more and less than 1"),
        ({"patience": 2}, "patience: wanted validate_every with it"),
        ({"sentences": 4, "tokens": 4}, "sentences and tokens: wanted one of the two, got 4 and 4"),
        ({"checkpoint_every": -1}, "checkpoint_every: wanted 0 or more, got -1"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(change, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        preset("tiny", 30, 40, **change)


def test_a_preset_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="wanted one of tiny, small, base, big, got 'huge'"):
        preset("huge", 30, 40)


def test_the_papers_options_are_valid_by_themselves():
    assert PAPER.rate(1, 512) == pytest.approx(1.75e-7, rel=2e-3) and Options().rate(800, 64) == pytest.approx(0)
