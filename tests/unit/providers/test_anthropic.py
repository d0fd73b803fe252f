"""Anthropic's Messages API: where requests go, and with which headers."""

import json

import pytest

from interlock.models import anthropic
from interlock.models.dialects import Dialect
from interlock.providers import AnthropicMessages
from tests.unit.providers.asked import sent_by


async def test_messages_are_asked_for_with_key_and_version() -> None:
    request = await sent_by(AnthropicMessages("claude-x", api_key="key"))
    assert (request.method, request.target) == ("POST", "/v1/messages")
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == ("key", "2023-06-01")
    assert "authorization" not in request.headers
    assert json.loads(request.body)["stream"] is True


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:80", "http://127.0.0.1:80/v1", "http://127.0.0.1:80/v1/"])
def test_an_address_is_the_same_with_its_version_and_without(base_url: str) -> None:
    assert AnthropicMessages("m", base_url=base_url).base_url == "http://127.0.0.1:80"


def test_schemas_are_strict_at_anthropic_itself() -> None:
    assert AnthropicMessages("m").dialect is Dialect.ANTHROPIC_STRICT
    assert AnthropicMessages("m", base_url="https://api.anthropic.com/v1").dialect is Dialect.ANTHROPIC_STRICT
    assert AnthropicMessages("m", base_url="http://127.0.0.1:80").dialect is Dialect.ANTHROPIC
    assert AnthropicMessages("m").codec is anthropic
