"""A model as the loop asks it: somewhere to send a request to, and the codec that its provider speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from interlock.core.errors import InterlockError
from interlock.models.codec import Codec, Options
from interlock.models.dialects import Dialect
from interlock.models.turn import Turn


class ModelUnknown(InterlockError):
    """A run names a model that this process does not have. The message says which, and which there are."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in millionths of the currency unit for a million tokens: 3 USD are 3_000_000."""

    input_micros: int
    output_micros: int


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a model's server, or why there is none.

    `turn` is always there: a connection that failed gives one that runs nothing (`Ended.DROPPED`). `status` is the
    HTTP status, 0 where no answer began. `retry_after_s` is what the server asked for, if it did. `streamed`:
    `turn.raw` is a stream, which the codec's reader reads again. `may_repeat`: the fault is transient, the same
    request may be sent anew.
    """

    turn: Turn
    status: int = 200
    streamed: bool = False
    retry_after_s: float | None = None
    may_repeat: bool = False


class Model(Protocol):
    """A model that can be asked for turns. `name` is what a run finds it under again, in this process or another.

    `price` is None where nobody set one: then a limit on cost refuses to start a run with it.
    """

    @property
    def name(self) -> str: ...

    @property
    def codec(self) -> Codec: ...

    @property
    def dialect(self) -> Dialect: ...

    @property
    def options(self) -> Options: ...

    @property
    def price(self) -> Price | None: ...

    async def ask(self, body: Mapping[str, object]) -> Reply:
        """Send one request, once, and read the answer. Never raises for what the server or the network does."""

    async def close(self) -> None:
        """Let go of connections."""
