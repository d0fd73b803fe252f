"""What tests of reviews share: records of calls as the log has them, and logs of any of them."""

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from interlock.core.chain import Record
from interlock.core.journal import RECORD, AuditRecord, EventKind, Payload
from interlock.core.review_tally import Tallies, Tally

DAY_US = 86_400_000_000


def record(kind: EventKind, *, at_us: int = 1, chain: str = "main", sequence: int = 1, **said: Any) -> AuditRecord:
    """One record of the log. `kept=False` is one whose words are not there any more."""
    kept, subject = said.pop("kept", True), str(said.get("subject", ""))
    payloads = (Payload(RECORD, b"", json.dumps(said).encode()),) if kept else ()
    return AuditRecord(Record(chain, sequence, "0" * 64, b""), "acme", kind, at_us, "c1", subject, payloads)


def call(kind: EventKind, tool: str = "find", **said: Any) -> AuditRecord:
    """A record of a call of a published tool."""
    whole = {"tool": tool, "version": "1", "spec": f"digest of {tool}", "effect": "read", "external": False, **said}
    return record(kind, **whole)


def settled(tool: str = "find", status: str = "ok", **said: Any) -> AuditRecord:
    """An execution that ended."""
    amounts = {"attempts": 1, "working_ms": 10, "cost_micros": 0, "tokens": 0, "evidence": "status"}
    return call(EventKind.SETTLED, tool, **{"status": status, **amounts, **said})


def refused(code: str, tool: str = "find", **said: Any) -> AuditRecord:
    """A refusal."""
    return call(EventKind.REFUSED, tool, **{"status": "refused", "code": code, **said})


def invented(name: str, **said: Any) -> AuditRecord:
    """A proposal of a name that no tool has."""
    return record(EventKind.REFUSED, tool=name, version=None, spec=None, code="TOOL_NOT_FOUND", **said)


def tallied(records: Iterable[AuditRecord], *, search: str = "find_tools") -> Tallies:
    """What a log comes to."""
    return tally_of(records, search=search).tallies(detour_times=1, detours_max=100)


def tally_of(records: Iterable[AuditRecord], *, search: str = "find_tools") -> Tally:
    """The same, before it is read."""
    tally = Tally(search=search)
    for each in records:
        tally.take(each)
    return tally


_NAMES = st.sampled_from(["find", "look", "save"])
_SCOPES = st.sampled_from([{}, {"run": "r1"}, {"run": "r2"}, {"task": "t1"}])
_ARGUMENTS = st.sampled_from([{}, {"arguments": {"id": 1}}, {"arguments": {"id": 2}, "resource": "Note/2"}])
_CODES = st.sampled_from(["PERMISSION_DENIED", "TOOL_ARGUMENT_INVALID", "TOOL_FROZEN", "RATE_LIMITED"])
_PLACES = st.fixed_dictionaries(
    {"at_us": st.integers(0, 50), "chain": st.sampled_from(["a", "b"]), "sequence": st.integers(1, 10_000)}
)


@st.composite
def proposals(draw: st.DrawFn) -> tuple[AuditRecord, ...]:
    """The records of one proposal, whatever came of it."""
    said = {**draw(_PLACES), **draw(_SCOPES), **draw(_ARGUMENTS)}
    tool = draw(_NAMES)
    effect = {"effect": "write"} if tool == "save" else {}
    status = draw(st.sampled_from(["ok", "partial", "failed", "unknown"]))
    match draw(st.integers(0, 6)):
        case 0:
            return (refused(draw(_CODES), tool, **said, **effect),)
        case 1:
            return (invented(draw(st.text(max_size=3)), **said),)
        case 2:
            return (call(EventKind.WAITING, tool, approval="a1", **said, **effect),)
        case 3:
            return (call(EventKind.REPLAYED, tool, status="ok", **said, **effect),)
        case 4:
            return (call(EventKind.CACHED, tool, status="ok", **said, **effect),)
        case 5 if tool != "save":
            return (settled(tool, status, working_ms=draw(st.integers(0, 99_999)), **said),)
        case _:
            external = {**said, **(effect or {"external": True})}
            return (call(EventKind.CLAIMED, tool, **external), settled(tool, status, **external))


@st.composite
def others(draw: st.DrawFn) -> tuple[AuditRecord, ...]:
    """Records that are no proposals: of people, of recovery, of models, and such as cannot be read."""
    said, tool = draw(_PLACES), {"tool": draw(_NAMES), "version": "1"}
    match draw(st.integers(0, 6)):
        case 0:
            state = draw(st.sampled_from(["granted", "denied", "pending"]))
            return (record(EventKind.APPROVAL_VOTED, state=state, asked_at_us=0, **tool, **said),)
        case 1:
            return (record(EventKind.APPROVAL_VOID, note=draw(st.sampled_from(["edited", ""])), **tool, **said),)
        case 2:
            closed = {"status": draw(st.sampled_from(["ok", "failed", "unknown", "released"])), **tool, **said}
            return (record(EventKind.CLOSED, closer=draw(st.sampled_from(["tool", "person", "nobody"])), **closed),)
        case 3:
            return (record(EventKind.RUN_TOLD, subject="r1", what="cancel", **said),)
        case 4:
            return (record(EventKind.MODEL_ASKED, tokens=draw(st.integers(0, 9)), cost_micros=1, **said),)
        case 5:
            return (record(EventKind.TOOL_REGISTERED, tools=[{"name": tool["tool"], "version": "1"}], **said),)
        case _:
            return (call(EventKind.REFUSED, kept=False, **said),)
