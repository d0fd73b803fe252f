"""Asks Anthropic's models, and servers that speak the Messages API as Anthropic's does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from interlock.models import anthropic
from interlock.models.codec import Codec
from interlock.models.dialects import Dialect
from interlock.providers.faults import REPEATABLE_AND_CONFLICT
from interlock.providers.hosted import Hosted

VERSION: Final = "2023-06-01"


@dataclass(eq=False)
class AnthropicMessages(Hosted):
    """A model behind the Messages API. `base_url` may end in `/v1` or not."""

    PROVIDER = "anthropic"
    URL = "https://api.anthropic.com"
    REPEATABLE = REPEATABLE_AND_CONFLICT

    def __post_init__(self) -> None:
        self.base_url = self.base_url.rstrip("/").removesuffix("/v1")
        super().__post_init__()

    @property
    def codec(self) -> Codec:
        """Messages."""
        return anthropic

    @property
    def dialect(self) -> Dialect:
        """Strict at Anthropic itself."""
        return Dialect.ANTHROPIC_STRICT if self._is_strict else Dialect.ANTHROPIC

    def _path(self, streamed: bool) -> str:
        return "/v1/messages"

    async def _keys(self, url: str, content: bytes) -> Mapping[str, str]:
        return {"anthropic-version": VERSION} | ({"x-api-key": self.api_key} if self.api_key else {})
