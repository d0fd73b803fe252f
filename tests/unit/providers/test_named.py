"""A text names a model; the environment gives its key, and no key goes to another address than its provider's."""

import pytest

from interlock.core.errors import SettingsInvalid
from interlock.providers import AnthropicMessages, Bedrock, Gemini, OpenAIChat, OpenAIResponses, model_of
from interlock.providers.hosted import Hosted

KEYS = {
    "OPENAI_API_KEY": "openai-key",
    "ANTHROPIC_API_KEY": "anthropic-key",
    "GEMINI_API_KEY": "gemini-key",
    "AWS_BEARER_TOKEN_BEDROCK": "bedrock-key",
    "AWS_REGION": "eu-west-1",
}


@pytest.mark.parametrize(
    ("text", "kind", "model", "base_url", "key"),
    [
        ("openai:gpt-5-mini", OpenAIResponses, "gpt-5-mini", "https://api.openai.com/v1", "openai-key"),
        ("openai-chat:gpt-x", OpenAIChat, "gpt-x", "https://api.openai.com/v1", "openai-key"),
        ("anthropic:claude@2026", AnthropicMessages, "claude@2026", "https://api.anthropic.com", "anthropic-key"),
        ("gemini:gemini-x", Gemini, "gemini-x", "https://generativelanguage.googleapis.com/v1beta", "gemini-key"),
        (
            "bedrock:eu.anthropic.claude-v1:0",
            Bedrock,
            "eu.anthropic.claude-v1:0",
            "https://bedrock-runtime.eu-west-1.amazonaws.com",
            "bedrock-key",
        ),
        ("openai-chat:qwen3:8b@http://127.0.0.1:8080/v1", OpenAIChat, "qwen3:8b", "http://127.0.0.1:8080/v1", ""),
        ("anthropic:m@https://elsewhere.example", AnthropicMessages, "m", "https://elsewhere.example", ""),
        ("bedrock:m@https://elsewhere.example", Bedrock, "m", "https://elsewhere.example", ""),
    ],
)
def test_a_text_names_a_model(text: str, kind: type[Hosted], model: str, base_url: str, key: str) -> None:
    if kind is Bedrock and not key:
        pytest.importorskip("botocore")
    found = model_of(text, KEYS)
    assert type(found) is kind
    assert isinstance(found, Hosted)
    assert (found.model, found.base_url, found.api_key, found.name) == (model, base_url, key, text)


def test_an_address_elsewhere_has_a_key_of_its_own() -> None:
    found = model_of("openai-chat:m@https://elsewhere.example/v1", KEYS | {"INTERLOCK_MODEL_KEY": " own \n"})
    assert isinstance(found, Hosted)
    assert found.api_key == "own"


def test_the_provider_s_own_variable_may_move_it() -> None:
    found = model_of("openai:m", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1/"})
    assert isinstance(found, Hosted)
    assert (found.base_url, found.api_key) == ("http://127.0.0.1:1/v1", "")
    moved = model_of("gemini:m", {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1", "GOOGLE_API_KEY": "k"})
    assert isinstance(moved, Hosted)
    assert (moved.base_url, moved.api_key) == ("http://127.0.0.1:1/v1beta", "k")


@pytest.mark.parametrize("text", ["", "gpt-5-mini", "openai:", "nobody:m", "openai-chat:@http://127.0.0.1:1/v1"])
def test_a_text_that_names_no_model_is_told_how_to(text: str) -> None:
    with pytest.raises(SettingsInvalid, match="PROVIDER:MODEL"):
        model_of(text, KEYS)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("openai:m", "OPENAI_API_KEY"),
        ("anthropic:m", "ANTHROPIC_API_KEY"),
        ("gemini:m", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    ],
)
def test_a_missing_key_is_told_with_the_variable_to_set(text: str, names: str) -> None:
    with pytest.raises(SettingsInvalid, match=f"set the environment variable {names}"):
        model_of(text, {})
