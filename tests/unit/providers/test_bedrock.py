"""Bedrock: the model stands in the address, and a request has an API key or a signature."""

import json
import sys

import pytest

from interlock.core.errors import SettingsInvalid
from interlock.models import bedrock
from interlock.models.dialects import Dialect
from interlock.providers import Bedrock
from tests.unit.providers.asked import sent_by

CLAUDE = "anthropic.claude-x-v1:0"


async def test_an_api_key_is_a_bearer() -> None:
    streamed = await sent_by(Bedrock(CLAUDE, api_key="key"))
    assert streamed.target == "/model/anthropic.claude-x-v1%3A0/converse-stream"
    assert streamed.headers["authorization"] == "Bearer key"
    whole = await sent_by(Bedrock(CLAUDE, api_key="key", stream=False))
    assert whole.target == "/model/anthropic.claude-x-v1%3A0/converse"
    assert json.loads(whole.body)["messages"] == [{"role": "user", "content": [{"text": "hello"}]}]


async def test_without_a_key_requests_are_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    request = await sent_by(Bedrock(CLAUDE, region="eu-central-1"))
    signed = request.headers["authorization"]
    assert signed.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-central-1/bedrock/aws4_request" in signed


async def test_without_credentials_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
    model = Bedrock(CLAUDE, base_url="http://127.0.0.1:1")
    reply = await model.ask({})
    assert (reply.status, reply.may_repeat, reply.turn.runnable) == (0, False, ())
    assert "credentials" in reply.turn.reason


def test_a_missing_signer_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "interlock.providers.sigv4", raising=False)
    monkeypatch.setitem(sys.modules, "botocore", None)
    monkeypatch.setitem(sys.modules, "botocore.auth", None)
    with pytest.raises(SettingsInvalid, match=r"interlock\[bedrock\]"):
        Bedrock(CLAUDE)


@pytest.mark.parametrize("region", ["", "evil.example/", "a b"])
def test_a_region_is_a_part_of_an_address_and_no_more(region: str) -> None:
    with pytest.raises(SettingsInvalid, match="region"):
        Bedrock(CLAUDE, api_key="key", region=region)


def test_its_dialect_is_the_one_that_there_is() -> None:
    model = Bedrock(CLAUDE, api_key="key", region="eu-west-1")
    assert (model.dialect, model.codec, model.name) == (Dialect.BEDROCK, bedrock, f"bedrock:{CLAUDE}")
    assert model.base_url == "https://bedrock-runtime.eu-west-1.amazonaws.com"
