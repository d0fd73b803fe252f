"""Which codec reads what a model of a dialect has sent, so that a journal can be read where the model is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from interlock.core.errors import StoreError
from interlock.loop.entries import Responded
from interlock.models import anthropic, bedrock, gemini, openai_chat, openai_responses
from interlock.models.codec import Codec
from interlock.models.dialects import Dialect
from interlock.models.turn import Turn

CODECS: Final[Mapping[Dialect, Codec]] = {
    Dialect.OPENAI_CHAT: openai_chat,
    Dialect.OPENAI_CHAT_STRICT: openai_chat,
    Dialect.OPENAI_RESPONSES: openai_responses,
    Dialect.OPENAI_RESPONSES_STRICT: openai_responses,
    Dialect.ANTHROPIC: anthropic,
    Dialect.ANTHROPIC_STRICT: anthropic,
    Dialect.GEMINI: gemini,
    Dialect.GEMINI_OPENAPI: gemini,
    Dialect.BEDROCK: bedrock,
}


def codec_of(dialect: str) -> Codec:
    """The codec of a dialect by its name. Raises `StoreError` for one that there is not."""
    try:
        return CODECS[Dialect(dialect)]
    except ValueError as unknown:
        raise StoreError(f"there is no dialect {dialect!r}; a newer Interlock may know it") from unknown


def read_again(responded: Responded) -> Turn:
    """The turn that a model's answer was."""
    codec = codec_of(responded.dialect)
    if responded.streamed:
        return codec.read_stream([responded.raw], status=responded.status)
    return codec.read_response(responded.raw, status=responded.status)
