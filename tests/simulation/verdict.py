"""What must be true when all is over, whatever happened on the way and however often a process died."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby
from typing import Any

from interlock import Approval, ApprovalState, LookUpRule, Observation, Status
from interlock.core.budget import ScopeKey, ScopeKind, Usage
from interlock.core.chain import Break
from interlock.core.effect import CallState
from interlock.core.journal import RECORD, AuditRecord, EventKind
from interlock.ports import OpenCall
from tests.simulation.people import forbids
from tests.simulation.world import COST, ONCE

KINDS = {
    Status.WAITING: {EventKind.WAITING},
    Status.REFUSED: {EventKind.REFUSED, EventKind.SETTLED, EventKind.REPLAYED},
    Status.OK: {EventKind.SETTLED, EventKind.REPLAYED},
    Status.FAILED: {EventKind.SETTLED, EventKind.REPLAYED},
    Status.UNKNOWN: {EventKind.SETTLED, EventKind.REPLAYED, EventKind.LATE},
}
"""What may be on record of an observation of each status."""

SCOPED = {ScopeKind.RUN: "run", ScopeKind.TASK: "task", ScopeKind.TOOL: "tool"}

TOOK_BACK = frozenset({EventKind.APPROVAL_WITHDRAWN, EventKind.APPROVAL_EXPIRED, EventKind.APPROVAL_VOID})


@dataclass(frozen=True)
class Heard:
    """What somebody was told of a call, with the kind and the call of the record that then stood at its receipt."""

    tool: str
    call: str
    status: Status
    operation: str
    recorded: tuple[str, str] | None

    @staticmethod
    def of(seen: Observation, record: AuditRecord | None) -> Heard:
        """The same of an observation."""
        recorded = None if record is None else (record.kind, record.call)
        return Heard(seen.tool, seen.call_id, seen.status, seen.operation_id or "", recorded)


@dataclass(frozen=True)
class Facts:
    """What was seen from outside: effects by tool and key, executions by operation, and what was told.

    `overlaps` are keys that two executions were at, at once; `stalled` operations and keys at which a process went on
    that had lost its lease; `faults` are sentences about what was wrong on the way.
    """

    effects: Mapping[tuple[str, str], int]
    started: Counter[str]
    executed: Counter[str]
    heard: Sequence[Heard]
    overlaps: Collection[str] = ()
    stalled: Collection[str] = ()
    faults: Sequence[str] = ()
    look_ups: LookUpRule = field(default_factory=LookUpRule)


@dataclass(frozen=True)
class Left:
    """What is left in the store. `said` are the records in time, each chain in its own order, with what they say."""

    records: Sequence[AuditRecord]
    open: Sequence[OpenCall]
    usage: Sequence[tuple[ScopeKey, Usage]]
    approvals: Sequence[Approval]
    broken: Break | None
    said: Sequence[tuple[AuditRecord, dict[str, Any]]] = field(init=False)

    def __post_init__(self) -> None:
        chains = [list(each) for _, each in groupby(self.records, key=lambda each: each.record.chain)]
        in_time = merge(*chains, key=lambda each: each.at_us)
        object.__setattr__(self, "said", [(each, _redacted(each)) for each in in_time])


def verdict(facts: Facts, left: Left) -> list[str]:
    """Every sentence about what is wrong."""
    return [
        *facts.faults,
        *_effects(facts),
        *_open(left),
        *_holds(left),
        *_grants(facts, left),
        *_taken_back(left),
        *_void(left),
        *_told(facts),
        *_found(facts, left),
        *_ends(left),
        *_looked_up(facts, left),
        *_fenced(left),
        *_revoked(left),
        *([f"the log is broken: {left.broken}"] if left.broken else []),
    ]


def _effects(facts: Facts) -> Iterator[str]:
    """No effect twice, and never two at work on one key."""
    for (name, key), count in facts.effects.items():
        if name in ONCE and count > 1 and key not in facts.stalled:
            yield f"{name} took effect {count} times under one key"
    if set(facts.overlaps) - set(facts.stalled):
        yield "two executions were at one key at once"


def _open(left: Left) -> Iterator[str]:
    """Only what cannot be found out is still open, and says so."""
    for call in left.open:
        if call.state is not CallState.UNKNOWN:
            yield f"a call of {call.operation.tool} is still {call.state}"
        elif call.operation.tool in ("peek", "post", "stow"):
            yield f"a call of {call.operation.tool} is unknown, though it could be found out"


def _holds(left: Left) -> Iterator[str]:
    """Only what is unknown holds budget: a first try its declared cost, a repeat what it spent beside that.

    It is held where the last try was made: a repeat may come from another run than the first.
    """
    last_try = {record.subject: fields for record, fields in left.said if record.kind == EventKind.CLAIMED}
    tries = [last_try[call.operation.id] for call in left.open]
    for scope, usage in left.usage:
        unknown = [each for each in tries if _counts(each, scope)]
        cost = sum(COST[each["tool"]] for each in unknown)
        held = usage.held
        is_paid = held.cost_micros <= cost <= held.cost_micros + usage.used.cost_micros
        if held.concurrent or held.calls > len(unknown) or (scope.window_us == 0 and not is_paid):
            yield f"{scope} holds {held}, but unknown are {[each['tool'] for each in unknown]}"


def _counts(claimed: Mapping[str, Any], scope: ScopeKey) -> bool:
    """Whether a claim counts in a scope. A task counts only the calls without a run."""
    if scope.kind not in SCOPED:
        return True
    named = claimed[SCOPED[scope.kind]] == scope.id
    return bool(named and (scope.kind is not ScopeKind.TASK or claimed["run"] is None))


def _grants(facts: Facts, left: Left) -> Iterator[str]:
    """What needs an approval ran only with a grant of its own, and once."""
    claims = Counter(each.subject for each, _ in left.said if each.kind == EventKind.CLAIMED)
    for approval in left.approvals:
        operation = approval.operation_id
        used = approval.state is ApprovalState.USED
        if facts.started[operation] > 1 or claims[operation] > 1:
            yield f"one grant was claimed {claims[operation]} times and started {facts.started[operation]} times"
        if used != (claims[operation] == 1):
            yield f"an approval is {approval.state}, and its operation was claimed {claims[operation]} times"
        if used and len({vote.approver for vote in approval.votes if vote.approve}) < 2:
            yield "a grant was used that two people never gave"
    asked = {each.operation_id for each in left.approvals}
    for record, fields in left.said:
        if record.kind == EventKind.CLAIMED and fields["tool"] == "remove" and record.subject not in asked:
            yield "a removal was claimed without an approval"


def _taken_back(left: Left) -> Iterator[str]:
    """What was withdrawn, declined or expired is not claimed any more."""
    operations = {each.id: each.operation_id for each in left.approvals}
    gone: set[str] = set()
    for record, fields in left.said:
        declined = record.kind == EventKind.APPROVAL_VOTED and fields["approve"] is False
        if record.kind in TOOK_BACK or declined:
            gone.add(operations[record.subject])
        if record.kind == EventKind.CLAIMED and record.subject in gone:
            yield "an operation was claimed after its approval was taken back"


def _void(left: Left) -> Iterator[str]:
    """A claim voids the other questions that wait on its key.

    Within a chain: what two processes write is not always written in the order of their clocks, and a question that
    is written after the claim of another process is not void. Whoever resumes it is told what became of that claim.
    """
    pending = {each.id for each in left.approvals if each.state is ApprovalState.PENDING}
    asked: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record, fields in left.said:
        if record.kind == EventKind.WAITING and record.subject in pending:
            asked[record.record.chain, fields["key"]].append(record.subject)
        if record.kind == EventKind.CLAIMED and asked[record.record.chain, fields["key"]]:
            yield "a question still waits on a key that was claimed after it"


def _told(facts: Facts) -> Iterator[str]:
    """What was told is on record, and true."""
    for heard in facts.heard:
        if heard.recorded is None or heard.recorded[0] not in KINDS[heard.status]:
            yield f"{heard.status} was told without its record: {heard.recorded}"
        elif heard.recorded[1] != heard.call:
            yield f"the record of {heard.call} is that of {heard.recorded[1]}"
        ran = facts.executed[heard.operation]
        if heard.status is Status.OK and heard.tool != "peek" and not ran:
            yield f"{heard.tool} was told to be done, and was not"
        if heard.status is Status.REFUSED and ran:
            yield f"{heard.tool} was told to be refused, and ran"
        if heard.status is Status.FAILED and ran:
            yield f"{heard.tool} was told to have failed, and took effect"


def _found(facts: Facts, left: Left) -> Iterator[str]:
    """What recovery found not to have happened has not happened; a repeat of it is a claim of its own."""
    closed: dict[str, str] = {}
    for record, fields in left.said:
        if record.kind in (EventKind.CLOSED, EventKind.SETTLED):
            closed[record.subject] = fields["status"] if record.kind == EventKind.CLOSED else "settled"
    for operation, status in closed.items():
        if status in ("failed", "released") and facts.executed[operation] and operation not in facts.stalled:
            yield "a call was found not to have happened, and has"


def _ends(left: Left) -> Iterator[str]:
    """Of every claimed call exactly one end is on record, and nothing after it."""
    ends: dict[str, list[str]] = defaultdict(list)
    for record, fields in left.said:
        if record.kind in (EventKind.SETTLED, EventKind.CLOSED):
            ends[record.subject].append(fields["status"])
    still_open = {call.operation.id for call in left.open}
    for record, fields in left.said:
        told = ends[record.subject] if record.kind == EventKind.CLAIMED else []
        final = [status for status in told if status != "unknown"]
        if record.kind == EventKind.CLAIMED and len(final) != (record.subject not in still_open):
            yield f"a claimed {fields['tool']} ended {told}"
        if final and told[-1] == "unknown":
            yield f"after its end a call became unknown: {told}"


def _looked_up(facts: Facts, left: Left) -> Iterator[str]:
    """Look-ups of one call come one by one, each after its pause; once it was escalated nobody but a person looks."""
    last: dict[str, tuple[int, int]] = {}
    escalated: set[str] = set()
    for record, fields in left.said:
        if record.kind in (EventKind.CLAIMED, EventKind.TAKEN_OVER):
            last.pop(record.subject, None)
            escalated.discard(record.subject)
        elif record.kind == EventKind.ESCALATED:
            if record.subject in escalated:
                yield "a call was escalated twice"
            escalated.add(record.subject)
        elif record.kind == EventKind.LOOKED_UP:
            count, at_us = last.get(record.subject, (0, 0))
            due_us = at_us + facts.look_ups.pause_us(count) if count else 0
            if fields["looks"] != count + 1 or record.at_us < due_us or record.subject in escalated:
                yield f"look-up {fields['looks']} came {record.at_us - at_us} us after look-up {count}"
            last[record.subject] = (fields["looks"], record.at_us)


def _fenced(left: Left) -> Iterator[str]:
    """Who has lost a call to another does not settle it any more."""
    lost: set[str] = set()
    for record, _ in left.said:
        if record.kind == EventKind.TAKEN_OVER:
            lost.add(record.subject)
        if record.kind == EventKind.CLAIMED:
            lost.discard(record.subject)
        if record.kind == EventKind.SETTLED and record.subject in lost:
            yield "a call was settled by who had lost it"


def _revoked(left: Left) -> Iterator[str]:
    """Once a policy that forbids a tool is saved, no call of it is claimed."""
    named = forbids()
    forbidden: set[str] = set()
    for record, fields in left.said:
        if record.kind == EventKind.POLICY_SAVED:
            forbidden = {named[each["digest"]] for each in fields["policies"] if each["digest"] in named}
        if record.kind == EventKind.CLAIMED and fields["tool"] in forbidden:
            yield f"{fields['tool']} was claimed after it was forbidden"


def _redacted(record: AuditRecord) -> dict[str, Any]:
    """The redacted record."""
    return dict(json.loads(next(each.data for each in record.payloads if each.name == RECORD)))
