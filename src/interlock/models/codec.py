"""Says what every provider's codec offers, so that whoever drives a model needs to know none of them.

A codec is a module: `openai_chat`, `openai_responses`, ... each has these functions, pure and without state but for
the reader of one stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from interlock.core.frozen import frozen
from interlock.models.names import WireNames
from interlock.models.turn import Proposed, Turn


class Choice(StrEnum):
    """Whether the model may, may not or must call a tool."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Options:
    """How one model is asked. `extra` is added to the request body as it is: what only this provider knows.

    `tokens_field` is another name for the limit where a server wants one: `max_completion_tokens` for the Chat
    Completions of OpenAI's own reasoning models.
    """

    model: str
    tokens_max: int
    temperature: float | None = None
    stream: bool = False
    parallel_calls: bool = False
    tokens_field: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a result: base64 text of its bytes, or a URL that the provider fetches."""

    media_type: str = "image/png"
    base64: str = ""
    url: str = ""

    @property
    def link(self) -> str:
        """The picture as one URL, a `data:` URL where its bytes are at hand."""
        return self.url or f"data:{self.media_type};base64,{self.base64}"


@frozen
class Answer:
    """What goes back to the model for one call. `failed` is sent as a flag where the dialect has one."""

    call: Proposed
    text: str
    failed: bool = False
    images: tuple[Image, ...] = ()


class Reader(Protocol):
    """Takes the bytes of one stream as they arrive; `end()` judges the turn, whether the stream was whole or not."""

    def feed(self, chunk: bytes) -> None: ...

    def end(self) -> Turn: ...

    @property
    def over(self) -> bool:
        """Nothing that is fed from here on changes the turn."""


class Codec(Protocol):
    """One provider's dialect. Nothing that a provider sends raises: what cannot be read is a turn that runs nothing."""

    def declarations(
        self, specs: Iterable[tuple[str, str, Mapping[str, object]]], *, names: WireNames
    ) -> list[dict[str, object]]:
        """The declared tools for (name, description, input schema) triples. Raises ValueError past the limits."""

    def request(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        options: Options,
        tools: Sequence[Mapping[str, object]] = (),
        choice: Choice = Choice.AUTO,
        only: Sequence[str] = (),
    ) -> dict[str, object]:
        """The request body. `only`: the tools, by their wire names, that may be called out of those declared."""

    def read_response(self, body: bytes, *, status: int = 200) -> Turn:
        """Read a response that came in one piece. `status` is the HTTP status it came with."""

    def read_stream(self, chunks: Iterable[bytes], *, status: int = 200) -> Turn:
        """Read a whole stream at once, in whatever pieces it comes."""

    def reader(self) -> Reader:
        """A reader for one stream of status 200."""

    def echo(self, turn: Turn) -> list[dict[str, object]]:
        """The turn as entries of the history, with what the provider needs back. Every call must then be answered."""

    def results(self, answers: Sequence[Answer]) -> list[dict[str, object]]:
        """The entries of the history that answer all calls of one turn, in the order of the calls."""
