"""What a decision knows beside the operation: looked up for it, frozen, and of one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from interlock.core.approval import Approval
from interlock.core.budget import Counted, Reservation
from interlock.core.canonical import Json
from interlock.core.effect import CallState
from interlock.core.frozen import frozen
from interlock.core.labels import Labels
from interlock.core.policy import PolicySlice
from interlock.core.resource import Resource
from interlock.core.run import NO_RUN, RunFacts


@frozen
class Prior:
    """An earlier call under the same key. `observation` is its stored answer (JSON bytes), None while it runs.

    `goes_on`: its outcome is unknown, and somebody may still be at work on it.
    """

    operation_id: str
    tool: str
    model_digest: str
    state: CallState
    observation: bytes | None
    at_us: int
    labels: Labels
    goes_on: bool = False


@frozen
class Facts:
    """All that a decision knows beside the operation, as of one moment.

    `usage` matches `reservations` one by one, `effects` the scopes that a cached read reads. `grant` is the approval
    that this call resumes with. What did not arrive in time is not in `outside`. `guessed`: no `prior` was looked for.
    """

    as_of_us: int
    slice: PolicySlice
    environment: str = ""
    run: RunFacts = NO_RUN
    prior: Prior | None = None
    resource: Resource | None = None
    outside: Mapping[str, Json] = field(default_factory=dict)
    reservations: tuple[Reservation, ...] = ()
    usage: tuple[Counted, ...] = ()
    grant: Approval | None = None
    deadline_us: int | None = None
    epoch: int = 0
    effects: tuple[Counted, ...] = ()
    guessed: bool = False
