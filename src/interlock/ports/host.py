"""What the embedding program brings: facts, people, credentials, time, randomness, signatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from interlock.core.call import Principal
from interlock.core.canonical import Json
from interlock.core.frozen import frozen
from interlock.core.operation import Operation


class FactSource(Protocol):
    """Facts from outside, for policies. Owned by `runtime.look`."""

    async def fetch(self, names: frozenset[str], operation: Operation) -> Mapping[str, Json]:
        """As many of the named facts as arrive in time; a missing one denies."""


class Principals(Protocol):
    """Who a principal is today: groups are resolved anew when a waiting call resumes."""

    async def current(self, principal: Principal) -> Principal | None:
        """The principal as of now; None: no longer known."""


class Secrets(Protocol):
    """Credentials, per principal or tenant, for handlers only."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        """The named secrets; a missing one is absent."""


@frozen
class Progressed:
    """How far a call is, by its tool's own word: `done` of `total`, where it says one. `words` are data of a tool."""

    tenant: str
    tool: str
    call_id: str
    operation_id: str
    done: float
    total: float | None = None
    words: str = ""


class Onlooker(Protocol):
    """Is told how calls get on, in the gate's own loop: it returns at once."""

    def progressed(self, made: Progressed) -> None:
        """A call is so far now. One that it does not take ends the words of that call, not the call."""


class Clock(Protocol):
    """Time."""

    def now_us(self) -> int:
        """Microseconds since 1970 UTC; never less than it has said before."""

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back; the event loop's."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class Entropy(Protocol):
    """Randomness."""

    def bytes(self, count: int) -> bytes:
        """So many unguessable bytes."""


class Signer(Protocol):
    """Signs checkpoints of the audit log."""

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature."""

    def public_key(self) -> bytes:
        """The raw 32 bytes."""
