"""Table 2 of the paper: what translations were worth, and what the training cost, of six rivals and two transformers.

Vaswani et al. 2017. BLEU on newstest2014, more is better. The FLOPs are the paper's own estimate: clock time times GPUs
times the rate that it assumes for each kind of GPU.
"""

from typing import NamedTuple


class Result(NamedTuple):
    """One row; None where the paper has no number."""

    kind: str  # single, ensemble or transformer
    bleu_de: float  # English to German
    bleu_fr: float  # English to French
    flops_de: float
    flops_fr: float | None


TABLE_2 = {
    "GNMT + RL": Result("single", 24.6, 39.92, 2.3e19, 1.4e20),
    "ConvS2S": Result("single", 25.16, 40.46, 9.6e18, 1.5e20),
    "MoE": Result("single", 26.03, 40.56, 2.0e19, 1.2e20),
    "GNMT + RL ensemble": Result("ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    "ConvS2S ensemble": Result("ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    "base": Result("transformer", 27.3, 38.1, 3.3e18, None),
    "big": Result("transformer", 28.4, 41.8, 2.3e19, None),
}
