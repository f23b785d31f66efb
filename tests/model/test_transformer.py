"""The encoder-decoder: equal to the NumPy reference, counted as the paper counts, and blind where it must be."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib.reference import transformer as reference
from course_lib.reference.positions import sinusoidal_positions

torch = pytest.importorskip("torch")

from course_lib.model.config import TABLE_3, Config, tiny  # noqa: E402
from course_lib.model.transformer import Transformer, count_parameters  # noqa: E402

SMALL = 1e-10  # float64 through some layers
COUNTED = {  # millions, at a vocabulary of 37,000
    **dict.fromkeys(["base", "A h=1", "A h=4", "A h=16", "A h=32", "D dropout=0", "D smoothing=0.2"], 63.05),
    "B d_k=16": 55.97,
    "B d_k=32": 58.33,
    "C N=2": 33.64,
    "C N=4": 48.35,
    "C N=8": 77.75,
    "C d_model=256": 26.82,
    "C d_model=1024": 163.82,
    "C d_ff=1024": 50.45,
    "C d_ff=4096": 88.24,
    "big": 214.17,
}


def paper_model(name):
    with torch.device("meta"):  # counted without filling a single number
        return Transformer(TABLE_3[name].config)


@pytest.fixture
def float64():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def build(**sizes):
    torch.manual_seed(0)
    chosen = {"N": 2, "d_model": 12, "d_ff": 20, "h": 3, "longest": 16, "activation": "relu", "tied": "none"}
    model = Transformer(Config(11, 13, **{**chosen, "dropout": 0.0, **sizes}))
    with torch.no_grad():  # gains and biases that are not one and zero
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.normal_()
    return model.eval()


SOURCE = np.array([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0]])
TARGET = np.array([[1, 4, 5, 6], [1, 7, 8, 0]])


def numpy_weights(model):
    def attention(module):
        return reference.Attention(
            *(W.weight.detach().numpy().T for W in (module.W_Q, module.W_K, module.W_V, module.W_O))
        )

    def feed_forward(module):
        (W_1, b_1), (W_2, b_2) = ([p.detach().numpy() for p in module[i].parameters()] for i in (0, 2))
        return reference.FeedForward(W_1.T, b_1, W_2.T, b_2)

    def norm(module):
        return reference.Norm(*(p.detach().numpy() for p in module.parameters()))

    encoder = tuple(
        reference.EncoderLayer(attention(b.attend), feed_forward(b.feed_forward), (norm(b.norm_1), norm(b.norm_2)))
        for b in model.encoder
    )
    decoder = tuple(
        reference.DecoderLayer(
            attention(b.attend),
            attention(b.look),
            feed_forward(b.feed_forward),
            (norm(b.norm_1), norm(b.norm_2), norm(b.norm_3)),
        )
        for b in model.decoder
    )
    pre = model.config.norm == "pre"
    return reference.Weights(
        model.source.words.weight.detach().numpy(),
        model.target.words.weight.detach().numpy(),
        model.generator.weight.detach().numpy().T,
        encoder,
        decoder,
        norm(model.encoder_norm) if pre else None,
        norm(model.decoder_norm) if pre else None,
    )


@pytest.mark.parametrize("sizes", [{}, {"norm": "pre"}, {"d_k": 5, "d_v": 3}, {"tied": "output"}])
def test_the_transformer_equals_the_reference_at_every_real_position(float64, sizes):
    model = build(**sizes)
    expected = reference.transformer(SOURCE, TARGET, numpy_weights(model), 3, sinusoidal_positions(16, 12))
    with torch.no_grad():
        ours = model(torch.tensor(SOURCE), torch.tensor(TARGET)).numpy()
    assert np.allclose(ours[TARGET != 0], expected[TARGET != 0], atol=SMALL)


@pytest.mark.parametrize("name", COUNTED)
def test_each_row_of_table_3_has_the_parameters_that_we_count(name):
    assert round(count_parameters(paper_model(name)) / 1e6, 2) == COUNTED[name]


def test_base_and_big_to_the_last_parameter():
    assert count_parameters(paper_model("base")) == 63_045_632
    assert count_parameters(paper_model("big")) == 214_171_648


@pytest.mark.parametrize("name", [name for name, row in TABLE_3.items() if row.millions and name != "big"])
def test_every_printed_count_fits_one_vocabulary_of_about_41_thousand(name):
    with torch.device("meta"):
        model = Transformer(replace(TABLE_3[name].config, source_vocabulary=41_100, target_vocabulary=41_100))
    assert round(count_parameters(model) / 1e6) == pytest.approx(TABLE_3[name].millions, abs=0.5)


@pytest.mark.parametrize(
    ("more", "fewer", "millions"), [("C N=8", "C N=4", 29.4), ("C d_ff=4096", "C d_ff=1024", 37.8)]
)
def test_differences_between_rows_do_not_depend_on_the_vocabulary(more, fewer, millions):
    assert (count_parameters(paper_model(more)) - count_parameters(paper_model(fewer))) / 1e6 == pytest.approx(
        millions, abs=0.05
    )


def test_tied_matrices_are_one_object_and_get_one_gradient():
    model = Transformer(Config(13, 13, N=1, d_model=8, d_ff=8, h=2, longest=8))
    assert model.source.words.weight is model.target.words.weight is model.generator.weight
    model(torch.tensor([[4, 5]]), torch.tensor([[1, 6]])).sum().backward()
    assert model.source.words.weight.grad is model.generator.weight.grad


def test_one_matrix_for_two_vocabularies_is_refused():
    with pytest.raises(ValueError, match="got 11 and 13 words"):
        Config(11, 13)


@pytest.mark.parametrize(
    "choice", [{"norm": "no"}, {"positions": "none"}, {"activation": "tanh"}, {"tied": "some"}, {"h": 7}]
)
def test_a_choice_that_is_not_there_is_refused_by_its_name(choice):
    with pytest.raises(ValueError, match=f"^{next(iter(choice))}: wanted .* got "):
        Config(**choice)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_future_does_not_move_a_decoders_past(norm):
    model = build(norm=norm)
    changed = TARGET.copy()
    changed[:, 2] += 1
    with torch.no_grad():
        before, after = (model(torch.tensor(SOURCE), torch.tensor(target)) for target in (TARGET, changed))
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.allclose(before[:, 2], after[:, 2])


def test_more_padding_of_the_source_moves_nothing():
    model, wider = build(), np.pad(SOURCE, ((0, 0), (0, 3)))
    with torch.no_grad():
        before, after = (model(torch.tensor(source), torch.tensor(TARGET)) for source in (SOURCE, wider))
    assert torch.allclose(before, after, atol=1e-5)  # float32: another order of summation


def test_every_token_of_the_source_moves_the_first_logits():
    model = build()
    with torch.no_grad():
        before = model(torch.tensor(SOURCE), torch.tensor(TARGET))[0, 0]
        for position in range(SOURCE.shape[1]):
            changed = SOURCE.copy()
            changed[0, position] = 10
            assert not torch.allclose(before, model(torch.tensor(changed), torch.tensor(TARGET))[0, 0], atol=1e-4)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_rows_of_nothing_but_padding_are_finite_forward_and_backward(norm):
    model = build(norm=norm)
    logits = model(torch.zeros(2, 3, dtype=torch.long), torch.zeros(2, 4, dtype=torch.long))
    logits.square().mean().backward()
    assert torch.isfinite(logits).all()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_dropout_acts_in_training_alone_and_on_the_embeddings_too():
    model = Transformer(tiny(11, 13, dropout=0.5))
    source, target = torch.tensor(SOURCE), torch.tensor(TARGET)
    model.eval()
    assert torch.equal(model(source, target), model(source, target))
    model.train()
    assert not torch.allclose(model(source, target), model(source, target))
    assert (model.source(source) == 0).float().mean() == pytest.approx(0.5, abs=0.1)


def test_the_written_out_cross_weights_are_those_that_the_decoder_uses(float64):
    model = build(norm="pre", N=1)
    source, target = torch.tensor(SOURCE), torch.tensor(TARGET)
    with torch.no_grad():
        weights, memory = model.cross_weights(source, target)[0], model.encode(source)
        seen = []
        model.decoder[0].look.register_forward_hook(lambda module, inputs, output: seen.append(output))
        model(source, target)
        block = model.decoder[0]
        heads = weights @ block.look.keys_and_values(memory)[1]
        assert torch.allclose(block.look.W_O(heads.transpose(1, 2).flatten(2)), seen[0], atol=SMALL)
    assert torch.allclose(weights.sum(-1), torch.ones(()).expand(2, 3, 4))
    assert (weights[1, :, :, 3:] == 0).all()  # padding


def test_shift_right_lets_each_row_predict_the_token_that_it_has_not_seen():
    shifted = reference.shift_right(np.array([[7, 8, 2]]), begin_id=1)
    assert shifted.tolist() == [[1, 7, 8]]
