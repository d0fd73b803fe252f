"""Asks OpenAI's models, and those of the many servers that speak as OpenAI's do, by either of its two APIs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from interlock.models import openai_chat, openai_responses
from interlock.models.codec import Codec
from interlock.models.dialects import Dialect
from interlock.providers.faults import REPEATABLE_AND_CONFLICT
from interlock.providers.hosted import Hosted

URL: Final = "https://api.openai.com/v1"
_BEFORE_REASONING: Final = re.compile(r"(?:ft:)?(?:chatgpt|gpt-[34])")


@dataclass(eq=False)
class OpenAIChat(Hosted):
    """A model behind Chat Completions: OpenAI's own, or a server such as llama.cpp, vLLM or Ollama at `base_url`.

    OpenAI's own takes the limit as `max_completion_tokens`, others as `max_tokens`; `tokens_field` says another name.
    """

    PROVIDER = "openai-chat"
    URL = URL
    REPEATABLE = REPEATABLE_AND_CONFLICT

    @property
    def codec(self) -> Codec:
        """Chat Completions."""
        return openai_chat

    @property
    def dialect(self) -> Dialect:
        """Strict at OpenAI itself: others refuse it, or promise it and do not hold to it."""
        return Dialect.OPENAI_CHAT_STRICT if self._is_strict else Dialect.OPENAI_CHAT

    def _path(self, streamed: bool) -> str:
        return "/chat/completions"

    async def _keys(self, url: str, content: bytes) -> Mapping[str, str]:
        return _bearer(self.api_key)

    def _tokens_field(self) -> str:
        return "max_completion_tokens" if self._at_home else ""


@dataclass(eq=False)
class OpenAIResponses(Hosted):
    """A model behind the Responses API. OpenAI is asked to store nothing: the history is sent whole with each request,
    with the reasoning that came encrypted. `extra` says otherwise: `extra={"store": True, "include": []}`.
    """

    PROVIDER = "openai"
    URL = URL
    REPEATABLE = REPEATABLE_AND_CONFLICT

    @property
    def codec(self) -> Codec:
        """Responses."""
        return openai_responses

    @property
    def dialect(self) -> Dialect:
        """Strict at OpenAI itself."""
        return Dialect.OPENAI_RESPONSES_STRICT if self._is_strict else Dialect.OPENAI_RESPONSES

    def _path(self, streamed: bool) -> str:
        return "/responses"

    async def _keys(self, url: str, content: bytes) -> Mapping[str, str]:
        return _bearer(self.api_key)

    def _extra(self) -> Mapping[str, object]:
        """Models without reasoning answer 400 to a request for it."""
        if not self._at_home:
            return {}
        reasons = not _BEFORE_REASONING.match(self.model)
        return {"store": False} | ({"include": ["reasoning.encrypted_content"]} if reasons else {})


def _bearer(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}
