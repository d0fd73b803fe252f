"""What it came to: counts and spending from the audit log itself, which is verified here and once more as an export."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from people import AUDITOR, TENANT
from session import Session

from interlock import Gate
from interlock.core.audit_log import Verified
from interlock.core.chain import Break
from interlock.core.decision import Deny
from interlock.core.export import verify_export
from interlock.core.journal import RECORD, AuditQuery, AuditRecord, EventKind

PAGE: Final = 1_000
EXPORT: Final = "audit.jsonl"


@dataclass(slots=True)
class Tally:
    """What the audit log says of one task, over every start of the program."""

    proposals: set[str] = field(default_factory=set)
    operations: set[str] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    executed: int = 0

    def take(self, kind: str, record: dict[str, object], *, task: str) -> None:
        """Count one record, if it is the task's."""
        if kind == EventKind.CLOSED and record.get("subject") in self.operations:
            self.executed += record.get("status") == "ok"
        if record.get("task") != task:
            return
        self.proposals.add(str(record.get("call_id")))
        self.kinds[kind] += 1
        if kind == EventKind.CLAIMED:
            self.operations.add(str(record.get("subject")))
        self.executed += kind == EventKind.SETTLED and record.get("status") == "ok"


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
    return [record async for _, record in _records(gate, query)]


async def _rows(session: Session) -> list[tuple[str, str]]:
    tally = Tally()
    async for kind, record in _records(session.gate, AuditQuery(limit=PAGE)):
        tally.take(kind, record, task=session.task)
    used = [usage.used for scope, usage in await session.gate.usage(TENANT) if scope.id == session.task]
    calls, milliseconds = (used[0].calls, used[0].working_ms) if used else (0, 0)
    return [
        ("proposed", str(len(tally.proposals))),
        ("refused", str(tally.kinds[EventKind.REFUSED])),
        ("waited", str(tally.kinds[EventKind.WAITING])),
        ("executed", str(tally.executed)),
        ("replayed", str(tally.kinds[EventKind.REPLAYED])),
        ("spent", f"{calls} calls, {milliseconds} ms in tools; {session.model_tokens} model tokens in this start"),
    ]


async def _records(gate: Gate, query: AuditQuery) -> AsyncIterator[tuple[str, dict[str, object]]]:
    """Kind and record of every event that matches, read as the auditor."""
    after: tuple[str, int] | None = None
    while True:
        page = await gate.audit.query(
            AuditQuery(kind=query.kind, since_us=query.since_us, after=after, limit=PAGE), by=AUDITOR
        )
        if isinstance(page, Deny) or not page:
            return
        for each in page:
            yield each.kind, _record(each)
        after = (page[-1].record.chain, page[-1].record.sequence)


def _record(found: AuditRecord) -> dict[str, object]:
    for payload in found.payloads:
        if payload.name == RECORD:
            record: dict[str, object] = json.loads(payload.data)
            return record
    return {}


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
