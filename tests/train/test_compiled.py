"""A compiled model computes what the eager one does."""

import shutil

import pytest

torch = pytest.importorskip("torch")

COMPILERS = ("g++", "clang++", "cl")


@pytest.mark.filterwarnings("ignore")  # the compiler's own
def test_the_compiled_model_equals_the_eager_one(build):
    if not any(map(shutil.which, COMPILERS)):
        pytest.skip("no C++ compiler: torch.compile cannot be tried on this CPU")
    model = build().eval()
    source, target = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]]), torch.tensor([[1, 4, 5], [1, 7, 0]])
    with torch.no_grad():
        compiled = torch.compile(model, fullgraph=True)
        assert torch.allclose(compiled(source, target), model(source, target), atol=1e-4)  # float32 in another order
