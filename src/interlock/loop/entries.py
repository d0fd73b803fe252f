"""What is written in the journal of a run: everything that moved it, and everything that was said to it.

A journal is data, and is read again to go on: what was decided when an entry was written (which turn may run, what a
refusal counts as) stands in it and is not decided anew. Each entry is one line of JSON, and what came from outside (the
bytes of a model's answer, an observation) behind it to the byte.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

import orjson

from interlock.core.call import Principal
from interlock.core.canonical import Json, decode
from interlock.core.errors import StoreError
from interlock.core.frozen import fields_of, frozen
from interlock.core.observation import Observation, from_bytes, to_bytes
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json
from interlock.loop.agent import Agent
from interlock.loop.limits import RunLimits
from interlock.loop.machine import Cause
from interlock.ports import RunEntry, RunReads

PAGE = 256


@dataclass(frozen=True, slots=True)
class Bound:
    """A tool as a run is bound to it: this version, whatever is published later.

    `agent` is the one that has it in this version, where the agents of the run have it in several; empty: all.
    """

    name: str
    version: str
    digest: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """What says whether a task is done: a tool that reads, and its arguments as JSON. Done is where that gives true."""

    tool: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Begun:
    """What a run was started with. `principal` is asked for anew whenever the run goes on; the rest stays.

    `kept` are, by agent, the names that it is offered from the beginning, where it has more tools than are offered at
    once; and `found_max` is how many that it finds are offered beside them.
    """

    task: str
    principal: Principal
    agent: str
    agents: tuple[Agent, ...]
    model: str
    limits: RunLimits
    bound: tuple[Bound, ...]
    task_id: str | None = None
    expires_us: int | None = None
    check: Check | None = None
    trace_id: str = ""
    kept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    found_max: int = 0


@dataclass(frozen=True, slots=True)
class Faulted:
    """A model was asked and gave no answer; it is asked again at `until_us`. One that moves nothing is a fault of the
    program: the run is taken up again then."""

    why: str
    status: int
    until_us: int
    working_ms: int = 0
    tokens: int = 0
    cost_micros: int = 0


@frozen
class Responded:
    """A model answered. `raw` is its answer to the byte, `dialect` and `streamed` how to read it again.

    `tokens` and `cost_micros` are what it is charged; `reported` says whether the provider said so, else it is the most
    that there can have been. `why` says why a turn runs nothing.
    """

    model: str
    dialect: str
    agent: str
    raw: bytes
    status: int = 200
    streamed: bool = False
    tokens: int = 0
    cost_micros: int = 0
    reported: bool = True
    working_ms: int = 0
    why: str = ""


@frozen
class Observed:
    """What came of the call at a position of the turn, as its model is told it (`nonce` fences it as data).

    `fixable`: it was refused for what the model can mend; `invented`: no tool has that name; `edited`: a person put
    other arguments in the place of the model's.
    """

    position: int
    seen: Observation
    nonce: str
    working_ms: int = 0
    fixable: bool = False
    invented: bool = False
    edited: bool = False


class Wish(StrEnum):
    """What somebody wants of a run."""

    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    HAND_OVER = "hand_over"
    HAND_BACK = "hand_back"


@dataclass(frozen=True, slots=True)
class Wished:
    """Somebody asked for something; it is done when the run comes to it. `text` is a reason, or a message."""

    what: Wish
    by: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A person's message to the model, which it gets with the next request."""

    text: str
    by: str


@dataclass(frozen=True, slots=True)
class HandedOff:
    """The task goes to another agent: the same run, principal, budgets and keys."""

    agent: str
    message: str


@dataclass(frozen=True, slots=True)
class Moved:
    """The run came to rest, or went on. `why` in words."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end: `reason` by a word to act on, `why` in words, the model's `answer`, and what the check found."""

    reason: str
    why: str = ""
    answer: str = ""
    success: bool | None = None


Body: TypeAlias = Begun | Faulted | Responded | Observed | Wished | Said | HandedOff | Moved | Ended

KINDS: Mapping[type[Body], str] = {
    Begun: "begun",
    Faulted: "faulted",
    Responded: "responded",
    Observed: "observed",
    Wished: "wished",
    Said: "said",
    HandedOff: "handed_off",
    Moved: "moved",
    Ended: "ended",
}


@frozen
class Step:
    """What is to be written, and what it moves the run by, in order; none: it moves nothing."""

    body: Body
    causes: tuple[Cause, ...]


def causes_of(steps: Sequence[Step]) -> tuple[Cause, ...]:
    """What steps that are written together move the run by, in order."""
    return steps[0].causes if len(steps) == 1 else tuple([cause for each in steps for cause in each.causes])


@frozen
class Entry:
    """One entry as it was read: when it happened, what it moved, and what it says."""

    body: Body
    causes: tuple[Cause, ...]
    at_us: int
    sequence: int = 0

    @property
    def kind(self) -> str:
        """The word for it, in the store and to watchers."""
        return KINDS[type(self.body)]


def written(body: Body, causes: tuple[Cause, ...] = (), *, at_us: int) -> RunEntry:
    """The entry as it is kept."""
    said, behind = _parts(body)
    try:
        head = orjson.dumps({"causes": causes, "is": said}, default=spec_to_json)
    except TypeError:  # what the encoder knows nothing of, such as keys that are no text
        head = orjson.dumps({"causes": causes, "is": spec_to_json(body)})
    return RunEntry(KINDS[type(body)], at_us, b"".join((head, b"\n", behind)) if behind else head)


def entries_of(steps: Sequence[Step], *, at_us: int) -> tuple[RunEntry, ...]:
    """Steps as they are kept."""
    if len(steps) == 1:
        return (written(steps[0].body, steps[0].causes, at_us=at_us),)
    return tuple([written(each.body, each.causes, at_us=at_us) for each in steps])


def read(entry: RunEntry) -> Entry:
    """The entry that was kept. Raises `StoreError` where it is none of ours."""
    head, _, behind = entry.data.partition(b"\n")
    try:
        whole = _object(decode(head))
        causes = whole["causes"]
        if not isinstance(causes, list):
            raise TypeError("causes are a list")
        body = _READ[entry.kind](whole["is"], behind)
        return Entry(body, tuple(Cause(str(each)) for each in causes), entry.at_us, entry.sequence)
    except (KeyError, TypeError, ValueError) as broken:
        raise StoreError(
            f"an entry of a run cannot be read ({entry.kind}): open the store with the Interlock that wrote it last, "
            "or restore a backup"
        ) from broken


async def entries_after(reads: RunReads, tenant: str, run_id: str, *, after: int) -> AsyncIterator[Entry]:
    """What was written in a run after an entry, in order, page by page; from the beginning after 0."""
    while True:
        page = await reads.run_entries(tenant, run_id, after=after, limit=PAGE)
        for each in page:
            yield read(each)
        if len(page) < PAGE:
            return
        after = page[-1].sequence


def _parts(body: Body) -> tuple[object, bytes]:
    """What is kept as JSON, and what came from outside, to the byte."""
    if type(body) is Observed:
        said = fields_of(body)
        del said["seen"]
        return said, to_bytes(body.seen)
    if type(body) is Responded:
        said = fields_of(body)
        del said["raw"]
        return said, body.raw
    return body, b""  # the encoder writes dataclasses as `spec_to_json` does, but for sets


B = TypeVar("B", Begun, Faulted, Wished, Said, HandedOff, Moved, Ended)


def _plain(kind: type[B]) -> Callable[[Json, bytes], B]:
    return lambda said, _: from_json(kind, said)


def _read_responded(said: Json, behind: bytes) -> Responded:
    given: dict[str, Any] = {**_object(said)}
    return Responded(**given, raw=behind)


def _read_observed(said: Json, behind: bytes) -> Observed:
    given: dict[str, Any] = {**_object(said)}
    return Observed(**given, seen=from_bytes(behind))


def _object(said: Json) -> Mapping[str, Json]:
    if not isinstance(said, dict):
        raise TypeError("not an object")
    return said


_READ: Mapping[str, Callable[[Json, bytes], Body]] = {
    "begun": _plain(Begun),
    "faulted": _plain(Faulted),
    "wished": _plain(Wished),
    "said": _plain(Said),
    "handed_off": _plain(HandedOff),
    "moved": _plain(Moved),
    "ended": _plain(Ended),
    "responded": _read_responded,
    "observed": _read_observed,
}
