"""What it came to: counts and spending from the audit log itself, which is verified here and once more as an export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from on_record import records
from people import AUDITOR, TENANT
from session import Session

from interlock import AuditQuery, Break, Deny, EventKind, Gate, Verified, verify_export

EXPORT: Final = "audit.jsonl"
EXECUTED, REPLAYED, REFUSED = "executed", "replayed", "refused"
MEANS: Final = {
    REPLAYED: ", answered from the record: nothing ran, and it costs nothing",
    REFUSED: ", before anything ran",
    "not run": ", cut off before anything happened",
    "unknown": ", whether they happened is still to be found out",
}


@dataclass(slots=True)
class Tally:
    """What the audit log says of one task, over every start of the program.

    `ends` is what each proposal came to so far, by its label, so that together they are all proposals. `subjects` are
    the operations and approvals of the task, by which later records name their proposal.
    """

    ends: dict[str, str] = field(default_factory=dict)
    subjects: set[str] = field(default_factory=set)
    waited: set[str] = field(default_factory=set)

    def take(self, kind: str, record: dict[str, object], *, task: str) -> None:
        """Take one record into account, if it is the task's."""
        label, subject = str(record.get("call_id")), record.get("subject")
        if record.get("task") != task and subject not in self.subjects:
            return
        if isinstance(subject, str):
            self.subjects.add(subject)
        if kind == EventKind.WAITING:
            self.waited.add(label)
        end = _end(kind, record)
        if end and self.ends.get(label) != EXECUTED:
            self.ends[label] = end

    def rows(self) -> list[tuple[str, str]]:
        """How many were proposed, and what became of them; the three usual ends even where there are none."""
        counts = Counter({EXECUTED: 0, REPLAYED: 0, REFUSED: 0})
        counts.update(self.ends.values())
        ends = [(end, f"{count}{MEANS.get(end, '') if count else ''}") for end, count in counts.items()]
        return [("proposed", f"{len(self.ends)} calls, of which:"), *ends]


def _end(kind: str, record: dict[str, object]) -> str:
    """What a proposal has come to with this record; nothing where the record changes nothing about that."""
    status = str(record.get("status"))
    match kind:
        case EventKind.REFUSED:
            return REFUSED
        case EventKind.REPLAYED:
            return REPLAYED
        case EventKind.WAITING:
            return "waiting"
        case EventKind.CLAIMED:
            return "unknown"
        case EventKind.SETTLED | EventKind.CLOSED:
            return {"ok": EXECUTED, "released": "not run"}.get(status, status)
        case EventKind.APPROVAL_VOTED | EventKind.APPROVAL_EXPIRED | EventKind.APPROVAL_VOID:
            return {"denied": "declined", "expired": "expired", "void": "void"}.get(str(record.get("state")), "")
        case _:
            return ""


async def ending(session: Session, *, home: Path, fingerprint: str) -> bool:
    """Show the table and prove the log. Whether it is whole."""
    session.screen.heading("What it came to (from the audit log, over all starts of this task)")
    session.screen.table(await _rows(session))
    exported = await session.gate.audit.export(by=AUDITOR)
    assert not isinstance(exported, Deny)
    verified = await session.gate.audit.verify()
    if isinstance(verified, Break):
        session.screen.say("FAILED", f"the audit log does not verify: {verified.sentence}")
        return False
    heads = "".join(f", head {each.chain} {each.sequence} {each.hash[:16]}" for each in verified.heads)
    says = f"audit verified: {verified.records} records{heads}, key fingerprint {fingerprint}"
    session.screen.say("AUDIT", says)
    return _verified_offline(session, exported, path=home / EXPORT, fingerprint=fingerprint)


async def reconciled(gate: Gate, *, since_us: int) -> list[dict[str, object]]:
    """Calls that a start before this one left open, and what became of them when the gate was opened."""
    query = AuditQuery(kind=EventKind.CLOSED, since_us=since_us)
    return [record async for _, record in records(gate, query)]


async def _rows(session: Session) -> list[tuple[str, str]]:
    tally = Tally()
    async for kind, record in records(session.gate, AuditQuery()):
        tally.take(kind, record, task=session.task)
    used = [usage.used for scope, usage in await session.gate.usage(TENANT) if scope.id == session.task]
    calls, milliseconds = (used[0].calls, used[0].working_ms) if used else (0, 0)
    return [
        *tally.rows(),
        ("approvals", f"{len(tally.waited)} asked for"),
        ("spent", f"{calls} calls, {milliseconds} ms in tools; {session.model_tokens} model tokens in this start"),
    ]


def _verified_offline(session: Session, exported: Sequence[bytes], *, path: Path, fingerprint: str) -> bool:
    """Write the export and prove the file alone, as somebody could who has nothing but it and the fingerprint."""
    path.write_bytes(b"".join(exported))
    with path.open("rb") as lines:
        found = verify_export(lines, fingerprints=frozenset({fingerprint}))
    if isinstance(found, Verified):
        session.screen.say("AUDIT", f"exported to {path} and verified offline: {found.payloads} payloads fit")
        return True
    session.screen.say("FAILED", f"the export does not verify: {found.sentence}")
    return False
