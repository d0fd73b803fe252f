"""Which codec reads which provider's part of a corpus."""

from collections.abc import Mapping
from importlib import import_module
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
    """All of them, by the corpus's name of the provider."""
    return {
        provider: cast("Codec", import_module(f"interlock.models.{module}")) for provider, module in MODULES.items()
    }
