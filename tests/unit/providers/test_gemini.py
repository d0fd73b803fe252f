"""The Gemini API: the model stands in the address, the key in a header."""

import json

from interlock.models import gemini
from interlock.models.dialects import Dialect
from interlock.providers import Gemini
from tests.unit.providers.asked import sent_by


async def test_the_address_says_the_model_and_whether_it_streams() -> None:
    streamed = await sent_by(Gemini("gemini-x", api_key="key"))
    assert streamed.target == "/models/gemini-x:streamGenerateContent?alt=sse"
    assert streamed.headers["x-goog-api-key"] == "key"
    whole = await sent_by(Gemini("models/gemini-x", stream=False))
    assert whole.target == "/models/gemini-x:generateContent"
    assert "x-goog-api-key" not in whole.headers
    assert json.loads(whole.body)["contents"] == [{"role": "user", "parts": [{"text": "hello"}]}]


def test_its_dialect_is_the_one_that_there_is() -> None:
    model = Gemini("gemini-x")
    assert (model.dialect, model.codec, model.name) == (Dialect.GEMINI, gemini, "gemini:gemini-x")
