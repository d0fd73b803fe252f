"""Reads which model is meant from one text, such as `openai:gpt-5-mini`, and its key from the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from interlock.core.errors import SettingsInvalid
from interlock.loop.model import Model
from interlock.providers.anthropic import AnthropicMessages
from interlock.providers.bedrock import Bedrock
from interlock.providers.gemini import Gemini
from interlock.providers.openai import OpenAIChat, OpenAIResponses

KEY_ELSEWHERE: Final = "INTERLOCK_MODEL_KEY"
"""The variable with the key for an address that the text names. A provider's own key is never sent elsewhere."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a text says: a model of a provider, by the text itself, at an address where it names one."""

    text: str
    model: str
    base_url: str


@dataclass(frozen=True, slots=True)
class Variables:
    """The environment variables that a provider's own programs read: the first that is set counts."""

    keys: tuple[str, ...]
    base_url: str


_VARIABLES: Final = MappingProxyType(
    {
        "openai": Variables(("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
        "openai-chat": Variables(("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
        "anthropic": Variables(("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL"),
        "gemini": Variables(("GEMINI_API_KEY", "GOOGLE_API_KEY"), "GOOGLE_GEMINI_BASE_URL"),
        "bedrock": Variables(("AWS_BEARER_TOKEN_BEDROCK",), "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
    }
)
PROVIDERS: Final = tuple(_VARIABLES)
_FORM: Final = (
    f"PROVIDER:MODEL, where PROVIDER is one of {', '.join(PROVIDERS)}, such as openai:gpt-5-mini; "
    "a server of your own is openai-chat:MODEL@http://127.0.0.1:8080/v1"
)


def model_of(text: str, environ: Mapping[str, str]) -> Model:
    """The model that the text names, with the key that the environment holds for its provider.

    `text` is `PROVIDER:MODEL` or `PROVIDER:MODEL@BASE_URL`, and becomes the model's name. Raises SettingsInvalid.
    """
    provider, _, rest = text.strip().partition(":")
    if provider not in _VARIABLES or not rest:
        raise SettingsInvalid(f"model: {text!r} names no model; write {_FORM}")
    at = max(rest.find("@http://"), rest.find("@https://"))
    model, base_url = (rest, "") if at < 0 else (rest[:at], rest[at + 1 :])
    if not model:
        raise SettingsInvalid(f"model: {text!r} names no model; write {_FORM}")
    return _MAKERS[provider](Meant(text.strip(), model, base_url), environ)


def _key(provider: str, meant: Meant, environ: Mapping[str, str]) -> str:
    """A key is needed at the provider's own address alone."""
    if meant.base_url:
        return environ.get(KEY_ELSEWHERE, "").strip()
    variables = _VARIABLES[provider]
    key = next((environ[name].strip() for name in variables.keys if environ.get(name, "").strip()), "")
    if not key and not environ.get(variables.base_url):
        names = " or ".join(variables.keys)
        raise SettingsInvalid(f"model: {meant.text} needs a key: set the environment variable {names}")
    return key


def _base_url(provider: str, meant: Meant, environ: Mapping[str, str]) -> str:
    return meant.base_url or environ.get(_VARIABLES[provider].base_url, "").strip()


def _plain(
    provider: str, kind: type[OpenAIResponses | OpenAIChat | AnthropicMessages]
) -> Callable[[Meant, Mapping[str, str]], Model]:
    """Makes models of a provider whose addresses are taken as they are."""

    def made(meant: Meant, environ: Mapping[str, str]) -> Model:
        at, key = _base_url(provider, meant, environ), _key(provider, meant, environ)
        return kind(meant.model, base_url=at, api_key=key, name=meant.text)

    return made


def _gemini(meant: Meant, environ: Mapping[str, str]) -> Model:
    at, key = _base_url("gemini", meant, environ), _key("gemini", meant, environ)
    at = f"{at.rstrip('/')}/v1beta" if at and "/v1" not in at else at
    return Gemini(meant.model, base_url=at, api_key=key, name=meant.text)


def _bedrock(meant: Meant, environ: Mapping[str, str]) -> Model:
    """Without a key the credentials of AWS are used. A stated key wins, as it does in AWS's own programs."""
    region = (environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1").strip()
    own = environ.get("AWS_BEARER_TOKEN_BEDROCK", "").strip()
    key = environ.get(KEY_ELSEWHERE, "").strip() if meant.base_url else own
    at = _base_url("bedrock", meant, environ)
    profile = environ.get("AWS_PROFILE") or None
    return Bedrock(meant.model, base_url=at, api_key=key, name=meant.text, region=region, profile=profile)


_MAKERS: Final[Mapping[str, Callable[[Meant, Mapping[str, str]], Model]]] = MappingProxyType(
    {
        "openai": _plain("openai", OpenAIResponses),
        "openai-chat": _plain("openai-chat", OpenAIChat),
        "anthropic": _plain("anthropic", AnthropicMessages),
        "gemini": _gemini,
        "bedrock": _bedrock,
    }
)
