"""Says what an artifact was made from: what a run has observed, as what each of it may be presented, and its proof.

A draft, a report or an export keeps the lineage beside it, so that whoever reads it can go back to the sources, the
operations and the audit log. What is no fact is never presented as one: `standing` is the weakest of what it rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from interlock.core.canonical import Json
from interlock.core.chain import Receipt
from interlock.core.evidence import Evidence, EvidenceKind, Source
from interlock.core.frozen import frozen
from interlock.core.labels import Labels
from interlock.core.observation import Observation, Status
from interlock.core.tool import spec_to_json


class Standing(StrEnum):
    """As what a result may be presented, the strongest first.

    FACT: authoritative, and it may be reported. CONFIRM: it would be one once a person has confirmed it. INTERNAL: it
    is true, and may not be reported. CANDIDATE: it has to be chosen or checked. STATUS: it says how the work stands,
    and nothing of the world; what failed or waits is no more than that.
    """

    FACT = "fact"
    CONFIRM = "confirm"
    INTERNAL = "internal"
    CANDIDATE = "candidate"
    STATUS = "status"


_ORDER: Final = tuple(Standing)

SAID: Final[Mapping[Standing, str]] = MappingProxyType(
    {
        Standing.FACT: "",
        Standing.CONFIRM: "not confirmed yet",
        Standing.INTERNAL: "not to be reported",
        Standing.CANDIDATE: "a candidate, not established",
        Standing.STATUS: "a status, not a result",
    }
)
"""What stands in front of something that is no fact."""


@frozen
class Traced:
    """One observation that something was made from. Times are microseconds since 1970 UTC.

    `receipt` is where the audit log has it: chain, sequence and head. `shortened`: the model was shown a part of it.
    """

    call_id: str
    tool: str
    version: str
    status: Status
    standing: Standing
    kind: EvidenceKind
    quotable: bool = False
    reportable: bool = False
    confirm: bool = False
    scope: str = ""
    sources: tuple[Source, ...] = ()
    data_time_us: int | None = None
    data_version: str = ""
    operation_id: str | None = None
    executed_at_us: int | None = None
    receipt: Receipt | None = None
    approval_id: str | None = None
    labels: Labels | None = None
    replayed: bool = False
    shortened: bool = False

    def presented(self, text: str) -> str:
        """The text as it may stand in an artifact: what is no fact says so in front."""
        said = SAID[self.standing]
        return f"[{said}] {text}" if said else text


@frozen
class Lineage:
    """All that a run had observed when something was made from it, in order."""

    run: str
    traced: tuple[Traced, ...]

    @property
    def facts(self) -> tuple[Traced, ...]:
        """What may be presented as fact."""
        return tuple(each for each in self.traced if each.standing is Standing.FACT)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every source once, in the order in which it came."""
        return tuple(dict.fromkeys(source for each in self.traced for source in each.sources))

    def of(self, call_ids: Iterable[str]) -> Lineage:
        """The part that something was made from. Raises `KeyError` for what the run has not observed."""
        known = {each.call_id: each for each in self.traced}
        return Lineage(self.run, tuple(known[each] for each in dict.fromkeys(call_ids)))

    @property
    def standing(self) -> Standing:
        """As what something may be presented that rests on all of it: the weakest. Nothing at all supports no fact."""
        return max((each.standing for each in self.traced), key=_ORDER.index, default=Standing.STATUS)

    def to_json(self) -> dict[str, Json]:
        """All of it as JSON, to be kept with what was made."""
        document = spec_to_json(self)
        return {**document} if isinstance(document, dict) else {}


def lineage_of(run: str, seen: Iterable[Observation]) -> Lineage:
    """The lineage of what these observations gave. Of a call that was observed again, what it came to last counts."""
    last = {each.call_id: each for each in seen}
    return Lineage(run, tuple(map(traced, last.values())))


def traced(seen: Observation) -> Traced:
    """What is kept of one observation: not the result itself, but where it is from and what it is worth."""
    found = seen.evidence or Evidence(EvidenceKind.STATUS)
    return Traced(
        seen.call_id,
        seen.tool,
        seen.version,
        seen.status,
        standing_of(seen),
        found.kind,
        quotable=found.quotable,
        reportable=found.reportable,
        confirm=found.confirm,
        scope=found.scope,
        sources=found.sources,
        data_time_us=found.data_time_us,
        data_version=found.data_version,
        operation_id=seen.operation_id,
        executed_at_us=seen.executed_at_us,
        receipt=seen.receipt,
        approval_id=seen.approval_id,
        labels=seen.labels,
        replayed=seen.replayed,
        shortened=seen.truncated is not None,
    )


def standing_of(seen: Observation) -> Standing:
    """As what a result may be presented, by its evidence and how its call ended."""
    found = seen.evidence
    if seen.status not in (Status.OK, Status.PARTIAL) or found is None or found.kind is EvidenceKind.STATUS:
        return Standing.STATUS
    if found.kind is EvidenceKind.CANDIDATE:
        return Standing.CANDIDATE
    if not found.reportable:
        return Standing.INTERNAL
    return Standing.CONFIRM if found.confirm else Standing.FACT
