"""One small real model for all tests here, or a sentence that says why there is none."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "research-agent"

if str(EXAMPLE) not in sys.path:
    sys.path.append(str(EXAMPLE))

from chat_model import ChatModel, open_model  # noqa: E402  # needs the path above
from model_server import ModelUnavailable, weights  # noqa: E402


@pytest.fixture(scope="session")
def installed() -> None:
    try:
        weights()
    except ModelUnavailable as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def model(installed: None) -> Iterator[ChatModel]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("OPENAI_API_KEY", raising=False)
        with open_model() as opened:
            yield opened
