"""Reads a real call back as an example: who may read the log may, it is on record first, and no secret gets into it."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.arguments import Unparsed, parse_arguments
from interlock.core.call import Caller, Principal
from interlock.core.canonical import Json, canonical, decode
from interlock.core.catalogue import Tool
from interlock.core.decision import Deny
from interlock.core.errors import StoreError
from interlock.core.example import ToolExample
from interlock.core.example_made import OnRecord, made
from interlock.core.example_stale import surface_digest
from interlock.core.journal import RECORD, AuditQuery, AuditRecord, EventKind
from interlock.core.observation import Observation, from_bytes
from interlock.core.refusals import Code
from interlock.core.stored import caller_of
from interlock.core.tool_compile import compile_tool
from interlock.ports import OpenCall, StoredOperation
from interlock.runtime.acts import AUDITORS, signed_by
from interlock.runtime.records import Records
from interlock.runtime.versions import spec_of
from interlock.runtime.views import Views
from interlock.runtime.world import World

ENDS = frozenset({
    EventKind.REFUSED, EventKind.WAITING, EventKind.SETTLED, EventKind.REPLAYED, EventKind.CACHED, EventKind.CLOSED
})  # fmt: skip
"""Records that say what a call came to."""

NOT_THERE = Deny(Code.PRECONDITION_FAILED, "There is no call of that id on record.")
NAME_CHARS = 12


class CallReader:
    """Makes examples of calls. Within the tenant of whoever asks."""

    def __init__(self, world: World, *, views: Views, records: Records) -> None:
        self._world = world
        self._views = views
        self._records = records

    async def example_of(self, call_or_operation: str, *, by: Principal) -> ToolExample | Deny:
        """The example of a call, by its id or by its operation's; the newest where an id was used again."""
        if not by.groups & AUDITORS:
            groups = ", ".join(sorted(AUDITORS))
            return Deny(Code.PERMISSION_DENIED, f"Reading calls takes one of these groups: {groups}.")
        found = await self._record(call_or_operation, by.tenant)
        if found is None:
            return NOT_THERE
        said = {"subject": call_or_operation, **signed_by(by), "call": found.call}
        await self._world.audit.append(self._records.act(EventKind.EXAMPLE_TAKEN, by.tenant, said))
        tool = await self._tool_of(found)
        known = await self._known(found, tool)
        name = f"from {(found.subject or found.call)[:NAME_CHARS]}"
        return made(known, name=name, seen="" if tool is None else surface_digest(tool.spec))

    async def _record(self, wanted: str, tenant: str) -> AuditRecord | None:
        for query in (AuditQuery(tenant, subject=wanted), AuditQuery(tenant, call=wanted)):
            records = [each for each in await self._all(query) if each.kind in ENDS]
            if records:
                return records[-1]
        return None

    async def _all(self, query: AuditQuery) -> list[AuditRecord]:
        found: list[AuditRecord] = []
        while page := await self._world.audit.records(query):
            found += page
            last = page[-1].record.head
            query = replace(query, after=(last.chain, last.sequence))
        return sorted(found, key=lambda each: each.at_us)

    async def _tool_of(self, found: AuditRecord) -> Tool | None:
        """The version that was called, whether its code is here or not."""
        digest = _record_of(found).get("spec")
        _, versions = await self._views.versions()
        stored = versions.digested(str(digest))
        return None if stored is None else compile_tool(spec_of(stored))

    async def _known(self, found: AuditRecord, tool: Tool | None) -> OnRecord:
        record = {name: self._records.redactor.json(each) for name, each in _record_of(found).items()}
        call = await self._world.recovery.find(found.tenant, found.subject) if found.subject else None
        stored = None if call is None else call.operation
        if found.kind == EventKind.WAITING:
            asked = await self._world.approvals.approval(found.tenant, found.subject)
            stored = None if asked is None else asked[1]
        arguments = self._arguments(found, record, tool)
        return OnRecord(
            record,
            arguments=arguments,
            observation=_observation(call),
            caller=_caller(stored),
            injected=frozenset() if tool is None else frozenset(each.name for each in tool.injected),
            is_effect=tool is not None and tool.spec.effect.is_effect,
            remarks=() if tool is not None else ("its version is not published here: its words may be others",),
        )

    def _arguments(self, found: AuditRecord, record: dict[str, Json], tool: Tool | None) -> Json:
        """Redacted, as they are on record; where they were too long for that, what is kept whole, redacted anew."""
        shown = record.get("arguments")
        if isinstance(shown, dict) and not shown.keys() >= {"bytes", "digest"}:
            return shown
        whole = next((each.data for each in found.payloads if each.name == "arguments"), None)
        if whole is None or tool is None:
            return None
        parsed = parse_arguments(whole)
        if isinstance(parsed, Unparsed):
            return None
        named = self._views.current.policies.slice(tool.spec, tenant=found.tenant).redact
        redacted = self._records.redactor.json_bytes(canonical({**parsed}), marked=tool.sensitive, named=named)
        return decode(redacted)


def _record_of(found: AuditRecord) -> dict[str, Json]:
    held = next((each.data for each in found.payloads if each.name == RECORD), b"{}")
    value = decode(held)
    return value if isinstance(value, dict) else {}


def _observation(call: OpenCall | None) -> Observation | None:
    """Empty once it was purged."""
    return None if call is None or not call.observation else from_bytes(call.observation)


def _caller(stored: StoredOperation | None) -> Caller | None:
    if stored is None or not stored.sealed:
        return None
    try:
        return caller_of(stored.sealed)
    except StoreError:
        return None
