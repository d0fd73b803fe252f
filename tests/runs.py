"""What tests of runs share: gates with scripted models, runs that are started, and where they have got to."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from interlock import Gate, Host, PolicySource, Principal, Settings
from interlock.assemble import wired
from interlock.keys import Keys
from interlock.loop.desk import Run
from interlock.loop.events import RunEvent
from interlock.loop.machine import State
from interlock.loop.report import RunReport
from interlock.store.memory import MemoryStore
from interlock.testing.models import Script, ScriptedModel
from tests.gates import ALICE, ALL, AnyTool
from tests.gates import opened as gate_opened

ASKS_TO_SAVE = """
@id("reads") permit (principal, action in Action::"read", resource);
@id("asks") @approval("approver") @lifetime("1h") permit (principal, action == Action::"save", resource);
"""
KEYS = Keys(b"s" * 32, b"m" * 32)
Policy = str | Sequence[PolicySource] | None


@asynccontextmanager
async def opened(
    path: str,
    models: ScriptedModel | Iterable[ScriptedModel],
    tools: Iterable[AnyTool],
    policy: Policy = ALL,
    *,
    host: Host | None = None,
    **settings: Any,
) -> AsyncIterator[Gate]:
    """A gate whose runs may ask these models, and that looks for runs that are due without a pause worth the name."""
    known = (models,) if isinstance(models, ScriptedModel) else tuple(models)
    given = replace(host or Host(), models=known)
    async with gate_opened(path, tools, policy, host=given, **{"runs_every_s": 0.02, **settings}) as gate:
        yield gate


@asynccontextmanager
async def on_store(
    store: MemoryStore, model: ScriptedModel, tools: Iterable[AnyTool], policy: Policy = ALL, **settings: Any
) -> AsyncIterator[Gate]:
    """A gate on a store that others may use too, as several processes of one installation do."""
    given = Settings(tenant="acme", **{"runs_every_s": 0.02, **settings})
    gate = wired(Gate, store, given, host=Host(models=(model,)), keys=KEYS)
    sources = (PolicySource("test", policy),) if isinstance(policy, str) else policy
    await gate.begin([*tools], None if sources is None else tuple(sources))
    try:
        yield gate
    finally:
        await gate.close()


async def start(gate: Gate, *, by: Principal = ALICE, **more: Any) -> Run:
    """A run of the scripted model."""
    return await gate.runs.start(**{"model": "scripted", "task": "Do it.", "principal": by, **more})


async def rested(gate: Gate, run_id: str) -> None:
    """Once this gate does not drive the run any more: it waits for something, is over, or is somebody else's."""
    await gate.runs._engine.rested("acme", run_id)


async def ended(
    path: str, script: Script, tools: Iterable[AnyTool], policy: Policy = ALL, **more: Any
) -> tuple[RunReport, ScriptedModel]:
    """How a run of this script ends, with nobody there to see it."""
    model = ScriptedModel(script)
    async with opened(path, model, tools, policy) as gate:
        return await (await start(gate, **more)).result(), model


async def reached(run: Run, state: State, *, after: int = 0) -> RunEvent:
    """Wait until the run is there; the event that brought it there."""
    async for event in run.events(after=after):
        if event.state is state:
            return event
    raise AssertionError(f"the run ended before it was {state.value}: {await run.report()}")


async def happened(run: Run, kind: str, *, after: int = 0) -> RunEvent:
    """Wait until such a thing has happened."""
    async for event in run.events(after=after):
        if event.kind == kind:
            return event
    raise AssertionError(f"the run ended before there was {kind}: {await run.report()}")


async def events(run: Run, kind: str = "") -> list[RunEvent]:
    """Everything that happened until the run was over, or all of a kind."""
    return [event async for event in run.events() if kind in ("", event.kind)]


def told(request: Mapping[str, object]) -> list[str]:
    """The texts of the messages of a request that are no calls, in order."""
    messages = request["messages"]
    assert isinstance(messages, list)
    return [str(each["content"]) for each in messages if each.get("content") is not None]


def offered(request: Mapping[str, object]) -> list[str]:
    """The names of the tools of a request."""
    tools = request.get("tools", [])
    assert isinstance(tools, list)
    return [each["function"]["name"] for each in tools]
