"""Counts an audit log for a review, record by record: the same whatever order they come in, and in however many parts.

What is kept is bounded by the number of versions of tools that were ever published, and by fixed samples of runs, names
that no tool has and searches that found nothing. What cannot be read is counted as `unread`: unknown, never nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from interlock.core.canonical import Json
from interlock.core.choice import FIND_TOOLS
from interlock.core.frozen import frozen
from interlock.core.journal import AuditRecord, EventKind
from interlock.core.observation import Status
from interlock.core.refusals import Code
from interlock.core.review_counts import ARGUMENTS, DENIALS, Numbers, Tallied, bucket
from interlock.core.review_read import (
    UNKNOWN,
    Place,
    Said,
    code_of,
    count_closed,
    count_end,
    count_missing,
    finds_nothing,
    place_of,
    said_in,
    whole_in,
)
from interlock.core.review_runs import Detour, Signs, Step, Trail, Went, detours, hash_of_json, signs
from interlock.core.review_sample import Sample, hash_of

RUNS_FOLLOWED: Final = 1_024
"""How many runs and tasks are followed step by step."""

NAMES_KEPT: Final = 1_024
"""How many names that no tool has are kept, and how many searches that found nothing."""

TEXT_CHARS_MAX: Final = 128

_ABSENT: Final = frozenset(
    {Code.TOOL_NOT_FOUND, Code.TOOL_NOT_ALLOWED, Code.TOOL_FROZEN, Code.TOOL_RETIRED, Code.TOOL_QUARANTINED}
)
_STOPS: Final = frozenset({"cancel", "pause", "hand_over"})
_PROPOSALS: Final[Mapping[str, str]] = {
    EventKind.REFUSED: "refused",
    EventKind.WAITING: "asked",
    EventKind.CLAIMED: "started",
    EventKind.REPLAYED: "replayed",
    EventKind.CACHED: "cached",
}


class Unheard:
    """How often something was wanted that there was not, and when last."""

    __slots__ = ("count", "last_us")

    def __init__(self) -> None:
        self.count = 0
        self.last_us = 0

    def again(self, at_us: int) -> None:
        """Once more."""
        self.count += 1
        self.last_us = max(self.last_us, at_us)

    def join(self, other: Unheard) -> None:
        """What another part of the log has of the same."""
        self.count += other.count
        self.last_us = max(self.last_us, other.last_us)


@frozen
class Wanted:
    """A name that no tool has, or a search that found nothing: how often, when last, and names that are near."""

    text: str
    times: int
    last_us: int
    nearest: tuple[str, ...] = ()


@frozen
class Tallies:
    """What a log came to. `people` counts what persons did to runs, by what; `runs` is an estimate where not all are
    followed. `names` and `searches` are sums over all, also where not all are kept."""

    tools: Mapping[Place, Numbers]
    published: Mapping[Place, int]
    records: int
    unread: int
    unplaced: int
    first_us: int | None
    last_us: int | None
    invented: tuple[Wanted, ...]
    names: int
    unfound: tuple[Wanted, ...]
    searches: int
    signs: Mapping[str, Signs]
    detours: tuple[Detour, ...]
    runs: int
    runs_followed: int
    people: Mapping[str, int]
    model_tokens: int
    model_cost_micros: int


class Tally:
    """The numbers of the records that were taken so far. `search` is the name of the tool that finds others."""

    def __init__(self, *, search: str = FIND_TOOLS) -> None:
        self._search = search
        self._tools: dict[Place, Tallied] = {}
        self._published: dict[Place, int] = {}
        self._trails: Sample[Trail] = Sample(RUNS_FOLLOWED, Trail)
        self._invented: Sample[Unheard] = Sample(NAMES_KEPT, Unheard)
        self._unfound: Sample[Unheard] = Sample(NAMES_KEPT, Unheard)
        self._sums = dict.fromkeys(("records", "unread", "unplaced", "names", "searches", "tokens", "cost"), 0)
        self._people = dict.fromkeys(sorted(_STOPS), 0)
        self._first_us: int | None = None
        self._last_us: int | None = None

    def take_published(self, record: AuditRecord) -> None:
        """Hear when versions were published, of a record from before the time that is counted."""
        said = said_in(record)
        if said is not None:
            self.registered(record, said)

    def take(self, record: AuditRecord) -> None:
        """Count one record. What it does not say is unknown."""
        at_us = record.at_us
        self._sums["records"] += 1
        self._first_us = at_us if self._first_us is None else min(self._first_us, at_us)
        self._last_us = at_us if self._last_us is None else max(self._last_us, at_us)
        count = _COUNTED.get(record.kind)
        if count is None:
            return
        said = said_in(record)
        if said is None:
            self._sums["unread"] += 1
        else:
            count(self, record, said)

    def join(self, other: Tally) -> None:
        """Take in what was counted of another part of the same log."""
        for place, tallied in other._tools.items():
            self._of(place).add(tallied)
        for place, at_us in other._published.items():
            self._appeared(place, at_us)
        self._trails.join(other._trails, Trail.join)
        self._invented.join(other._invented, Unheard.join)
        self._unfound.join(other._unfound, Unheard.join)
        for sums, more in ((self._sums, other._sums), (self._people, other._people)):
            for name, count in more.items():
                sums[name] += count
        self._first_us = min((each for each in (self._first_us, other._first_us) if each is not None), default=None)
        self._last_us = max((each for each in (self._last_us, other._last_us) if each is not None), default=None)

    def tallies(self, *, detour_times: int, detours_max: int) -> Tallies:
        """What all of it comes to."""
        trails = [trail.steps for _, trail in self._trails.items()]
        return Tallies(
            tools={place: self._tools[place].numbers() for place in sorted(self._tools)},
            published=dict(sorted(self._published.items())),
            records=self._sums["records"],
            unread=self._sums["unread"],
            unplaced=self._sums["unplaced"],
            first_us=self._first_us,
            last_us=self._last_us,
            invented=_wanted(self._invented),
            names=self._sums["names"],
            unfound=_wanted(self._unfound),
            searches=self._sums["searches"],
            signs=signs(trails),
            detours=detours(trails, times=detour_times, most=detours_max),
            runs=self._trails.estimate,
            runs_followed=len(self._trails),
            people=dict(self._people),
            model_tokens=self._sums["tokens"],
            model_cost_micros=self._sums["cost"],
        )

    # --- kinds of records ---------------------------------------------------------------------------------------------

    def proposed(self, record: AuditRecord, said: Said) -> None:
        """A record that ends a proposal, or begins its execution."""
        tallied = self._proposal(record, said, _PROPOSALS[record.kind])
        if record.kind == EventKind.REFUSED:
            self._refused(record, said, tallied)
        elif record.kind != EventKind.CLAIMED:
            self._follow(record, said, Went.WELL if record.kind != EventKind.WAITING else Went.OTHERWISE)

    def settled(self, record: AuditRecord, said: Said) -> None:
        """An execution that ended. A read that was claimed without a record is proposed by this one."""
        if said.get("effect") == "read" and said.get("external") is not True and not said.get("approval"):
            tallied = self._proposal(record, said, "started")
        else:
            tallied = self._of(place_of(said))
        count_end(tallied, said)
        well = said.get("status") in (Status.OK, Status.PARTIAL)
        self._follow(record, said, Went.WELL if well else Went.FAILED)
        if well and said.get("tool") == self._search and finds_nothing(said.get("result")):
            self._note_search(record, said)

    def closed(self, record: AuditRecord, said: Said) -> None:
        """A call that did not end by itself."""
        count_closed(self._of(place_of(said)), said)

    def decided(self, record: AuditRecord, said: Said) -> None:
        """Somebody voted, and it may have been decided by that."""
        state = said.get("state")
        if state not in ("granted", "denied"):
            return
        tallied = self._placed(said)
        tallied.counts["granted" if state == "granted" else "declined"] += 1
        asked_at_us = said.get("asked_at_us")
        if isinstance(asked_at_us, int):
            tallied.deciding[bucket((record.at_us - asked_at_us) // 1_000_000)] += 1

    def told(self, record: AuditRecord, said: Said) -> None:
        """Somebody said something to a run."""
        what = said.get("what")
        if what in self._people:
            self._people[str(what)] += 1
            trail = self._trails.of(f"run {record.subject}")
            if trail is not None:
                trail.add(Step(record.at_us, record.record.chain, record.record.sequence, "", Went.PEOPLE))

    def undone(self, record: AuditRecord, said: Said) -> None:
        """A step of a plan that undoes effects."""
        tool, version = said.get("undoes_tool"), said.get("undoes_version")
        tallied = self._of((tool, version)) if isinstance(tool, str) and isinstance(version, str) else self._nowhere()
        if said.get("status") == "compensated":
            tallied.counts["compensated"] += 1
        elif said.get("status") in ("failed", "unknown"):
            tallied.counts["not_compensated"] += 1

    def registered(self, record: AuditRecord, said: Said) -> None:
        """Versions were published."""
        tools = said.get("tools")
        for each in tools if isinstance(tools, list) else ():
            name, version = (each.get("name"), each.get("version")) if isinstance(each, dict) else (None, None)
            if isinstance(name, str) and isinstance(version, str):
                self._appeared((name, version), record.at_us)

    def asked_model(self, record: AuditRecord, said: Said) -> None:
        """A model answered a run."""
        self._sums["tokens"] += whole_in(said.get("tokens")) or 0
        self._sums["cost"] += whole_in(said.get("cost_micros")) or 0

    def tallied_as(self, name: str) -> Callable[[AuditRecord, Said], None]:
        """Counts a record of a tool under that name."""

        def count(record: AuditRecord, said: Said) -> None:
            self._placed(said).counts[name] += 1

        return count

    # --- beneath ------------------------------------------------------------------------------------------------------

    def _of(self, place: Place) -> Tallied:
        found = self._tools.get(place)
        if found is None:
            found = self._tools[place] = Tallied()
        return found

    def _appeared(self, place: Place, at_us: int) -> None:
        self._published[place] = min(at_us, self._published.get(place, at_us))

    def _placed(self, said: Said) -> Tallied:
        place = place_of(said)
        return self._nowhere() if place == UNKNOWN else self._of(place)

    def _nowhere(self) -> Tallied:
        """A record from before records said of which tool."""
        self._sums["unplaced"] += 1
        return self._of(UNKNOWN)

    def _proposal(self, record: AuditRecord, said: Said, how: str) -> Tallied:
        tallied = self._of(place_of(said))
        is_back = bool(said.get("approval")) and how in ("started", "refused")
        tallied.counts["came_back" if is_back else how] += 1
        tallied.used(record.at_us)
        count_missing(tallied, said)
        return tallied

    def _refused(self, record: AuditRecord, said: Said, tallied: Tallied) -> None:
        code = code_of(said)
        tallied.refusals[code] += 1
        if code in ARGUMENTS:
            went = Went.ARGUMENTS
        elif code in _ABSENT:
            went = Went.ABSENT
        else:
            went = Went.DENIED if code in DENIALS else Went.OTHERWISE
        self._follow(record, said, went)
        if code == Code.TOOL_NOT_FOUND and said.get("spec") is None:
            self._sums["names"] += 1
            _note(self._invented, said.get("tool"), record.at_us)

    def _note_search(self, record: AuditRecord, said: Said) -> None:
        self._sums["searches"] += 1
        arguments = said.get("arguments")
        _note(self._unfound, arguments.get("query") if isinstance(arguments, dict) else None, record.at_us)

    def _follow(self, record: AuditRecord, said: Said, went: Went) -> None:
        scope = f"run {said['run']}" if said.get("run") else f"task {said['task']}" if said.get("task") else ""
        trail = self._trails.of(scope) if scope else None
        if trail is None:
            return
        resource, effect = said.get("resource"), said.get("effect")
        about = hash_of(resource) if isinstance(resource, str) else 0
        place, name = record.record, str(said.get("tool") or "")[:TEXT_CHARS_MAX]
        is_effect = isinstance(effect, str) and effect != "read"
        what = hash_of_json(said.get("arguments"))
        trail.add(Step(record.at_us, place.chain, place.sequence, name, went, what, about, is_effect))


Count = Callable[[Tally, AuditRecord, Said], None]


def _as(name: str) -> Count:
    def count(tally: Tally, record: AuditRecord, said: Said) -> None:
        tally.tallied_as(name)(record, said)

    return count


def _voided(tally: Tally, record: AuditRecord, said: Said) -> None:
    tally.tallied_as("edited" if said.get("note") == "edited" else "voided")(record, said)


_COUNTED: Final[Mapping[str, Count]] = {
    **dict.fromkeys(_PROPOSALS, Tally.proposed),
    EventKind.SETTLED: Tally.settled,
    EventKind.CLOSED: Tally.closed,
    EventKind.LATE: _as("late"),
    EventKind.ESCALATED: _as("escalated"),
    EventKind.APPROVAL_VOTED: Tally.decided,
    EventKind.APPROVAL_EXPIRED: _as("expired"),
    EventKind.APPROVAL_WITHDRAWN: _as("withdrawn"),
    EventKind.APPROVAL_VOID: _voided,
    EventKind.TOOL_REGISTERED: Tally.registered,
    EventKind.RUN_TOLD: Tally.told,
    EventKind.MODEL_ASKED: Tally.asked_model,
    EventKind.COMPENSATION_STEP: Tally.undone,
    EventKind.COMPENSATION_FAILED: Tally.undone,
    EventKind.COMPENSATION_ENDED: Tally.undone,
}


def _note(sample: Sample[Unheard], text: Json, at_us: int) -> None:
    found = sample.of(text[:TEXT_CHARS_MAX]) if isinstance(text, str) and text else None
    if found is not None:
        found.again(at_us)


def _wanted(sample: Sample[Unheard]) -> tuple[Wanted, ...]:
    """What is kept of a sample, what was wanted most first."""
    found = (Wanted(text, each.count, each.last_us) for text, each in sample.items())
    return tuple(sorted(found, key=lambda each: (-each.times, each.text)))
