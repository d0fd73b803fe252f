"""OpenAI's two APIs: where requests go, with which headers, and what differs at a compatible server."""

import json

from interlock.models import openai_chat, openai_responses
from interlock.models.dialects import Dialect
from interlock.providers import OpenAIChat, OpenAIResponses
from tests.unit.providers.asked import sent_by

LOCAL = "http://127.0.0.1:8080/v1"


async def test_chat_completions_is_asked_with_a_bearer() -> None:
    request = await sent_by(OpenAIChat("gpt-x", api_key="sk-key", headers={"OpenAI-Organization": "org"}))
    assert (request.method, request.target) == ("POST", "/chat/completions")
    assert request.headers["authorization"] == "Bearer sk-key"
    assert request.headers["openai-organization"] == "org"
    assert request.headers["content-type"] == "application/json"
    body = json.loads(request.body)
    assert (body["model"], body["stream"], body["max_completion_tokens"]) == ("gpt-x", True, 8_192)


async def test_a_server_without_a_key_is_sent_none() -> None:
    request = await sent_by(OpenAIChat("m", base_url=LOCAL, stream=False, tokens_max=50))
    assert "authorization" not in request.headers
    assert {"stream", "store"}.isdisjoint(json.loads(request.body))
    assert json.loads(request.body)["max_tokens"] == 50


async def test_responses_stores_nothing_and_asks_for_reasoning_where_there_is_any() -> None:
    body = json.loads((await sent_by(OpenAIResponses("gpt-5-mini", api_key="k"))).body)
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    older = OpenAIResponses("gpt-4o", extra={"store": True}).options.extra
    assert older == {"store": True}
    assert OpenAIResponses("m", base_url=LOCAL).options.extra == {}


async def test_responses_are_asked_for_at_their_own_path() -> None:
    request = await sent_by(OpenAIResponses("gpt-5-mini", api_key="k"))
    assert (request.target, request.headers["authorization"]) == ("/responses", "Bearer k")


def test_schemas_are_strict_at_openai_itself_alone() -> None:
    assert OpenAIChat("m").dialect is Dialect.OPENAI_CHAT_STRICT
    assert OpenAIChat("m", base_url=LOCAL).dialect is Dialect.OPENAI_CHAT
    assert OpenAIChat("m", base_url=LOCAL, strict=True).dialect is Dialect.OPENAI_CHAT_STRICT
    assert OpenAIResponses("m").dialect is Dialect.OPENAI_RESPONSES_STRICT
    assert OpenAIResponses("m", strict=False).dialect is Dialect.OPENAI_RESPONSES
    assert (OpenAIChat("m").codec, OpenAIResponses("m").codec) == (openai_chat, openai_responses)
