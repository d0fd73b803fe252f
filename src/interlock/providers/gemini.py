"""Asks Google's Gemini models by generateContent and streamGenerateContent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.models import gemini
from interlock.models.codec import Codec
from interlock.models.dialects import Dialect
from interlock.providers.hosted import Hosted


@dataclass(eq=False)
class Gemini(Hosted):
    """A model of the Gemini API. For Vertex AI `base_url` is the address up to `/publishers/google`, and `headers`
    hold an `Authorization` instead of a key.
    """

    PROVIDER = "gemini"
    URL = "https://generativelanguage.googleapis.com/v1beta"

    def __post_init__(self) -> None:
        self.model = self.model.removeprefix("models/")
        super().__post_init__()

    @property
    def codec(self) -> Codec:
        """GenerateContent."""
        return gemini

    @property
    def dialect(self) -> Dialect:
        """The one that there is: the provider has no switch for strictness."""
        return Dialect.GEMINI

    def _path(self, streamed: bool) -> str:
        return f"/{gemini.endpoint(self.options)}"

    async def _keys(self, url: str, content: bytes) -> Mapping[str, str]:
        """In a header: an address is logged."""
        return {"x-goog-api-key": self.api_key} if self.api_key else {}

    def _streams(self, body: Mapping[str, object]) -> bool:
        return self.stream
