"""Reads the audit log, which is what a start of the program knows about those before it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Final

from people import AUDITOR
from prompts import SEARCH_NAME

from interlock import AuditQuery, AuditRecord, Deny, EventKind, Gate
from interlock.core.journal import RECORD

PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Searched:
    """A search that succeeded: its arguments as JSON, and its result as far as a record shows it (else its digest)."""

    arguments: str
    result: object


async def records(gate: Gate, query: AuditQuery) -> AsyncIterator[tuple[str, dict[str, object]]]:
    """Kind and record of every event that matches, in the order of the log, read as the auditor."""
    after: tuple[str, int] | None = None
    while True:
        page = await gate.audit.query(replace(query, after=after, limit=PAGE), by=AUDITOR)
        if isinstance(page, Deny) or not page:
            return
        for each in page:
            yield each.kind, _record(each)
        after = (page[-1].record.chain, page[-1].record.sequence)


async def latest_search(gate: Gate, *, task: str) -> Searched | None:
    """The last search of a task that succeeded, or None."""
    found = None
    async for _, record in records(gate, AuditQuery(kind=EventKind.SETTLED)):
        if (record.get("task"), record.get("tool"), record.get("status")) == (task, SEARCH_NAME, "ok"):
            found = Searched(json.dumps(record.get("arguments")), record.get("result"))
    return found


def _record(found: AuditRecord) -> dict[str, object]:
    for payload in found.payloads:
        if payload.name == RECORD:
            record: dict[str, object] = json.loads(payload.data)
            return record
    return {}
