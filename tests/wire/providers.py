"""Which codec reads which provider's part of a corpus. A codec that is not there yet has no entry's module."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Final, cast

from interlock.models.codec import Codec

MODULES: Final[Mapping[str, str]] = {
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "anthropic": "anthropic",
    "bedrock": "bedrock",
    "gemini": "gemini",
}


def codecs() -> Mapping[str, Codec]:
    """The codecs that exist, by the corpus's name of the provider."""
    return {
        provider: cast("Codec", import_module(f"interlock.models.{module}"))
        for provider, module in MODULES.items()
        if find_spec(f"interlock.models.{module}") is not None
    }
