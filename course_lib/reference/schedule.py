"""Learning rates: the paper's rise and fall, and the warm-up with a cosine that small models do better with.

Follows Vaswani et al. 2017, section 5.3, equation 3, and Loshchilov and Hutter 2017. Steps are counted from 1.
"""

import math


def noam_rate(step: int, d_model: int, warmup: int = 4000) -> float:
    """Rise in a straight line for `warmup` steps, then fall with the inverse square root of the step.

    lr = d_model^−0.5 · min(step^−0.5, step · warmup^−1.5); both arms meet at step = warmup, the peak.

    >>> noam_rate(1, 512), noam_rate(4000, 512)
    (1.746928107421711e-07, 0.0006987712429686843)

    Raises:
        ValueError: if the step is less than 1.
    """
    if step < 1:
        raise ValueError(f"step: wanted 1 or more, since step 0 has no inverse square root, got {step}")
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def cosine_rate(step: int, peak: float, steps: int, warmup: int = 100) -> float:
    """Rise in a straight line to `peak` for `warmup` steps, then fall along half a cosine to 0 at `steps`.

    >>> [cosine_rate(step, peak=1.0, steps=300, warmup=100) for step in (50, 100, 200, 300)]
    [0.5, 1.0, 0.5, 0.0]

    Raises:
        ValueError: if the step is less than 1.
    """
    if step < 1:
        raise ValueError(f"step: wanted 1 or more, got {step}")
    if step <= warmup:
        return peak * step / warmup
    done = min(1.0, (step - warmup) / max(1, steps - warmup))
    return peak * (1 + math.cos(math.pi * done)) / 2
