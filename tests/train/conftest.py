"""A small corpus and a small model for the tests of the loop."""

import pytest


@pytest.fixture
def corpus():
    from course_lib.data.number_words import corpus as make

    return make(seed=0, train=150, held_out=20, below=1000, even_lengths=False)


@pytest.fixture
def build(corpus):
    import torch

    from course_lib.model.config import tiny
    from course_lib.model.transformer import Transformer

    def build(seed=0, **sizes):
        torch.manual_seed(seed)
        sizes = {"N": 1, "d_model": 16, "d_ff": 32, "h": 2, "longest": 64, **sizes}
        return Transformer(tiny(len(corpus.source), len(corpus.target), **sizes))

    return build
