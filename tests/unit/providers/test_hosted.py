"""A hosted model is declared once, checked at once, named for other processes, and shows no key."""

import json
import subprocess
import sys

import pytest

from interlock.core.errors import SettingsInvalid
from interlock.loop.model import Model, Price
from interlock.providers import OpenAIChat
from tests.http_upstream import status, upstream

PLANTED = "sk-planted-0123456789"


def test_it_is_a_model_with_the_options_that_were_said() -> None:
    model: Model = OpenAIChat(
        "m",
        base_url="http://127.0.0.1:1/v1/",
        temperature=0,
        parallel_calls=True,
        tokens_field="limit",
        extra={"seed": 1},
        price=Price(1, 2),
    )
    assert model.name == "openai-chat:m@http://127.0.0.1:1/v1"
    assert model.price == Price(1, 2)
    body = model.codec.request([], options=model.options)
    assert (body["temperature"], body["limit"], body["seed"], body["stream"]) == (0, 8_192, 1, True)
    assert (OpenAIChat("m").name, OpenAIChat("m", name="mine").name) == ("openai-chat:m", "mine")


def test_it_shows_neither_its_key_nor_its_headers() -> None:
    model = OpenAIChat("m", api_key=PLANTED, headers={"x-more": PLANTED}, extra={"user": PLANTED})
    assert PLANTED not in repr(model)
    assert PLANTED not in str(model)


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("ftp://host", "base_url must be an address"),
        ("https://", "base_url must be an address"),
        ("https://host/v1?key=1", "without a query"),
        ("https://user:secret@host", "must not hold a password"),
        ("https://[::1", "base_url must be an address"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_at_once(base_url: str, words: str) -> None:
    with pytest.raises(SettingsInvalid, match=words) as told:
        OpenAIChat("m", base_url=base_url)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("key", [f"{PLANTED}\n", f"{PLANTED} ", f"{PLANTED}é", f"Bearer {PLANTED}"])
def test_a_key_that_is_none_is_refused_without_telling_it(key: str) -> None:
    with pytest.raises(SettingsInvalid, match="API key") as told:
        OpenAIChat("m", api_key=key)
    assert PLANTED not in str(told.value)


def test_a_header_that_would_split_a_request_is_refused_without_telling_it() -> None:
    with pytest.raises(SettingsInvalid, match="header") as told:
        OpenAIChat("m", headers={"x-more": f"{PLANTED}\r\nx-other: 1"})
    assert PLANTED not in str(told.value)


@pytest.mark.parametrize("tokens", [0, -1, True, 1.5])
def test_the_limit_of_tokens_is_a_count(tokens: int) -> None:
    with pytest.raises(SettingsInvalid, match="tokens_max"):
        OpenAIChat("m", tokens_max=tokens)


def test_a_model_has_a_name() -> None:
    with pytest.raises(SettingsInvalid, match="name a model"):
        OpenAIChat("")


async def test_large_integers_and_broken_text_are_sent_too() -> None:
    async with upstream(status(400, body=b"{}")) as server:
        model = OpenAIChat("m", base_url=server.origin)
        await model.ask({"messages": [{"content": "half \ud800", "id": 2**70}]})
    assert json.loads(server.received[0].body) == {"messages": [{"content": "half \ud800", "id": 2**70}]}


def test_importing_interlock_does_not_import_what_asks_models() -> None:
    code = "import sys, interlock; print([name for name in sys.modules if name.startswith('interlock.providers')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
