"""What tests of the walk share: who acts, a shelf of notes whose effects are counted, and a gate around it."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from interlock import Gate, Host, Limit, Limits, PolicySource, Principal, PrincipalKind, Settings, ToolCall, tool
from interlock.core.decision import Deny
from interlock.core.journal import RECORD, AuditQuery
from interlock.core.observation import Observation
from interlock.declare import Declared

ALICE = Principal("acme", "alice", groups=frozenset({"eng"}))
BOB = Principal("acme", "bob", groups=frozenset({"eng", "approver"}))
CAROL = Principal("acme", "carol", groups=frozenset({"approver", "lead"}))
BOT = Principal("acme", "bot", PrincipalKind.AGENT, groups=frozenset({"eng", "approver"}), acting_for="alice")
AUDITOR = Principal("acme", "audrey", groups=frozenset({"auditor"}))
OPERATOR = Principal("acme", "olga", groups=frozenset({"operator"}))

ALL = '@id("all") permit (principal, action, resource);'
READS = '@id("reads") permit (principal, action in Action::"read", resource);'
ASKS = """
@id("reads") permit (principal, action in Action::"read", resource);
@id("asks") @approval("approver") @lifetime("1h") permit (principal, action in Action::"effect", resource);
"""

AnyTool = Declared[..., Any]


@pytest.fixture(params=["memory", "sqlite"])
def gate_path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store in memory, then one in a file."""
    return ":memory:" if request.param == "memory" else str(tmp_path / "gate.db")


class Shelf:
    """Notes, and what really happened to them. While `open` is cleared a save stands still after `started`."""

    def __init__(self) -> None:
        self.saved: list[tuple[str, str]] = []
        self.searched: list[str] = []
        self.open = asyncio.Event()
        self.open.set()
        self.started = asyncio.Event()
        self.search = self._search()
        self.save = self._save()

    @property
    def tools(self) -> tuple[AnyTool, ...]:
        return (self.search, self.save)

    def _search(self) -> AnyTool:
        @tool(effect="read", owner="eng", name="search")
        async def search(query: str, limit: int = 5) -> list[str]:
            """Search notes."""
            self.searched.append(query)
            return [query][:limit]

        return search

    def _save(self) -> AnyTool:
        @tool(effect="write", owner="eng", name="save", key=["note"], resource=("Note", "note"))
        async def save(note: str, text: str) -> dict[str, str]:
            """Save a note."""
            self.started.set()
            await self.open.wait()
            self.saved.append((note, text))
            return {"note": note}

        return save


def opened(
    path: str,
    tools: Iterable[AnyTool],
    policy: str | Sequence[PolicySource] | None = ALL,
    *,
    limits: Iterable[Limit] = (),
    host: Host | None = None,
    **settings: Any,
) -> AbstractAsyncContextManager[Gate]:
    """A gate of the tenant acme under these policies."""
    sources = [PolicySource("test", policy)] if isinstance(policy, str) else policy
    return Gate.open(
        path,
        tools=tools,
        policies=sources,
        settings=Settings(limits=Limits(tuple(limits)), tenant="acme", **settings),
        host=host or Host(),
    )


def save(note: str = "n1", text: str = "hello", *, id: str = "c1") -> ToolCall:  # noqa: A002 - as the call names it
    return ToolCall(id, "save", {"note": note, "text": text})


def search(query: str = "x", *, id: str = "c1") -> ToolCall:  # noqa: A002 - as the call names it
    return ToolCall(id, "search", {"query": query})


def code(seen: Observation | Deny | object) -> str:
    """The code of a refusal, or how the call ended."""
    if isinstance(seen, Deny):
        return seen.code.value
    assert isinstance(seen, Observation), seen
    return seen.status.value if seen.error is None else seen.error.code.value


async def asked(gate: Gate, call: ToolCall | None = None, *, by: Principal = ALICE, task: str = "t") -> str:
    """The id of the approval that a call waits for."""
    seen = await gate.call(call or save(), principal=by, task=task)
    assert seen.approval_id is not None, seen
    return seen.approval_id


async def granted(gate: Gate, call: ToolCall | None = None, *, by: Principal = ALICE, task: str = "t") -> str:
    """The id of an approval that Bob has given."""
    approval = await asked(gate, call, by=by, task=task)
    assert getattr(await gate.approvals.approve(approval, by=BOB), "state", None) == "granted"
    return approval


async def records(gate: Gate, kind: str | None = None, *, call: str | None = None) -> list[dict[str, Any]]:
    """The redacted records of the tenant, oldest first, each with its kind."""
    found = await gate.audit.query(AuditQuery(kind=kind, call=call), by=AUDITOR)
    assert not isinstance(found, Deny), found
    return [
        {"event": each.kind, **json.loads(next(part.data for part in each.payloads if part.name == RECORD))}
        for each in found
    ]


async def settled(gate: Gate) -> None:
    """Wait until the gate and its store have written what calls that were cancelled left to them."""
    await gate._owned.drain()
    await gate._world.recovery.find("acme", "none")


async def used(gate: Gate, unit: str, *, tenant: str = "acme") -> int:
    """How much of a unit is used in all scopes, and that nothing is held."""
    rows = await gate.usage(tenant)
    assert not [scope for scope, usage in rows if any(usage.held)], "something is held"
    return sum(int(getattr(usage.used, unit)) for _, usage in rows)
