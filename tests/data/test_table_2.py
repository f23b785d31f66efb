"""Table 2 of the paper against what the paper itself says of it."""

import pytest

from course_lib.data.table_2 import TABLE_2

P100 = 9.5e12  # the paper's rate, a second

RIVALS = [result for result in TABLE_2.values() if result.kind != "transformer"]


@pytest.mark.parametrize(("name", "days"), [("base", 0.5), ("big", 3.5)])
def test_the_flops_are_time_times_gpus_times_rate(name, days):
    assert TABLE_2[name].flops_de == pytest.approx(days * 86_400 * 8 * P100, rel=0.01)  # printed with two digits


def test_big_is_better_than_every_rival_by_more_than_2_bleu():
    assert TABLE_2["big"].bleu_de - max(rival.bleu_de for rival in RIVALS) > 2.0


def test_base_costs_a_fraction_of_any_rival():
    assert TABLE_2["base"].flops_de < 0.5 * min(rival.flops_de for rival in RIVALS)


def test_an_ensemble_costs_more_than_its_single_model_and_translates_better():
    for name in ("GNMT + RL", "ConvS2S"):
        single, ensemble = TABLE_2[name], TABLE_2[f"{name} ensemble"]
        assert ensemble.flops_de > single.flops_de and ensemble.flops_fr > single.flops_fr
        assert ensemble.bleu_de > single.bleu_de and ensemble.bleu_fr > single.bleu_fr
