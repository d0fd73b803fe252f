"""What a run is bound to at its start, and what never binds it: versions hold, authority is today's, a freeze wins."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from interlock import Gate, Host, PolicySource, Principal, tool
from interlock.core.lifecycle import Lifecycle
from interlock.loop.entries import Check
from interlock.loop.machine import State
from interlock.store.memory import MemoryStore
from interlock.testing.fakes import FakePrincipals
from interlock.testing.models import Call, Said, ScriptedModel
from tests.gates import ALICE, BOB, OPERATOR, AnyTool, Shelf
from tests.runs import ASKS_TO_SAVE, offered, on_store, opened, reached, start, told

pytestmark = pytest.mark.requirement("LOOP-7")

READ: Call = ("search", {"query": "x"})
SAVE: Call = ("save", {"note": "n1", "text": "t"})
NO_READS = 'forbid (principal, action == Action::"search", resource); permit (principal, action, resource);'


def search(version: str, ran: list[str]) -> AnyTool:
    @tool(effect="read", owner="eng", name="search", version=version)
    async def search(query: str) -> str:
        """Search."""
        ran.append(version)
        return query

    return search


class Between(ScriptedModel):
    """A model whose second turn is asked for only once something has been done."""

    def __init__(self, script: list[Said]) -> None:
        super().__init__(script)
        self.between: Any = None

    async def ask(self, body: Any) -> Any:
        if len(self.requests) == 1 and self.between is not None:
            await self.between()
        return await super().ask(body)


@pytest.mark.requirement("REG-4")
async def test_a_newer_version_is_not_used_by_a_run_that_began_before() -> None:
    ran: list[str] = []
    model = Between([READ, READ, "done"])
    async with opened(":memory:", model, [search("1", ran)]) as gate:

        async def publish() -> None:
            newer = gate._bound(search("2", ran))
            await gate.catalogue.register([newer], by=OPERATOR)

        model.between = publish
        assert (await (await start(gate)).result()).state is State.COMPLETE
        assert ran == ["1", "1"]
        model.between = None
        other = await gate.runs.start(model=ScriptedModel([READ, "done"], name="b"), task="Again.", principal=ALICE)
        await other.result()
    assert ran == ["1", "1", "2"]


async def test_a_version_that_is_gone_is_an_error_that_names_it(tmp_path: Path) -> None:
    """A deploy in the middle of a run: the new process has another version of the tool, and not the old one's code."""
    ran: list[str] = []
    path = str(tmp_path / "gate.db")
    async with opened(path, ScriptedModel([READ, SAVE]), [search("1", ran), Shelf().save], ASKS_TO_SAVE) as gate:
        run = await start(gate, run_id="r")
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
    async with opened(path, ScriptedModel([READ]), [search("2", ran), Shelf().save], None) as gate:
        await gate.approvals.approve(waits, by=BOB)
        report = await (await gate.runs.get("r", by=ALICE)).result()
    assert (report.state, report.reason, ran) == (State.FAILED, "bound_version", ["1"])
    assert report.why == "search 1, to which the run is bound, is not here any more."


async def test_a_frozen_tool_is_neither_offered_nor_run_whatever_a_run_is_bound_to(gate_path: str) -> None:
    shelf = Shelf()
    model = Between([READ, READ, "done"])
    async with opened(gate_path, model, shelf.tools) as gate:

        async def freeze() -> None:
            await gate.catalogue.move("search", Lifecycle.FROZEN, by=OPERATOR, reason="stop")

        model.between = freeze
        assert (await (await start(gate)).result()).state is State.COMPLETE
    assert (shelf.searched, offered(model.requests[0]), offered(model.requests[2])) == (
        ["x"],
        ["save", "search"],
        ["save"],
    )
    assert "TOOL_FROZEN" in told(model.requests[2])[2]
    assert "tell the user that it is stopped for now" in told(model.requests[2])[2]


async def test_groups_are_todays_in_the_middle_of_a_run(gate_path: str) -> None:
    shelf, people = Shelf(), FakePrincipals()
    model = Between([SAVE, ("save", {"note": "n2", "text": "t"}), "done"])
    policy = 'permit (principal in Group::"eng", action, resource);'
    async with opened(gate_path, model, shelf.tools, policy, host=Host(principals=people)) as gate:

        async def demote() -> None:
            people.today["alice"] = Principal("acme", "alice", groups=frozenset({"guest"}))

        model.between = demote
        assert (await (await start(gate)).result()).state is State.COMPLETE
    assert ([note for note, _ in shelf.saved], offered(model.requests[2])) == (["n1"], [])


async def test_policy_is_todays_in_the_middle_of_a_run(gate_path: str) -> None:
    shelf = Shelf()
    model = Between([READ, READ, "done"])
    async with opened(gate_path, model, shelf.tools) as gate:

        async def forbid() -> None:
            await gate.policies.save([PolicySource("test", NO_READS)], by=OPERATOR)

        model.between = forbid
        assert (await (await start(gate)).result()).state is State.COMPLETE
    assert (shelf.searched, offered(model.requests[2])) == (["x"], ["save"])


async def test_a_tool_that_was_published_later_is_not_offered_to_a_run_that_began_before() -> None:
    model, ran = Between([READ, "done"]), list[str]()
    async with opened(":memory:", model, [search("1", ran)]) as gate:

        async def publish() -> None:
            await gate.catalogue.register([gate._bound(Shelf().save)], by=OPERATOR)

        model.between = publish
        await (await start(gate)).result()
    assert [offered(request) for request in model.requests] == [["search"], ["search"]]


def check(version: str, *, done: bool) -> AnyTool:
    @tool(effect="read", owner="eng", name="is_done", version=version)
    async def is_done() -> bool:
        """Say whether it is done."""
        return done

    return is_done


async def test_what_says_whether_the_task_is_done_is_bound_too() -> None:
    model = Between([READ, "done"])
    async with opened(":memory:", model, [search("1", []), check("1", done=True)]) as gate:

        async def publish() -> None:
            await gate.catalogue.register([gate._bound(check("2", done=False))], by=OPERATOR)

        model.between = publish
        assert (await (await start(gate, check=Check("is_done"))).result()).success is True


async def test_finished_steps_are_not_done_again_by_who_takes_the_run_over(tmp_path: Path) -> None:
    path, shelf = str(tmp_path / "gate.db"), Shelf()
    script: list[Said] = [READ, [("search", {"query": "y"}), SAVE]]
    async with opened(path, ScriptedModel(script), shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate, run_id="r")
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
    model = ScriptedModel(["done"])
    async with opened(path, model, shelf.tools, None) as gate:
        await gate.approvals.approve(waits, by=BOB)
        report = await (await gate.runs.get("r", by=ALICE)).result()
    assert (report.state, report.spent.rounds, shelf.searched) == (State.COMPLETE, 3, ["x", "y"])
    assert [text.split("\n")[0] for text in told(model.requests[0])[1:]] == ["search: ok"] * 2 + ["save: ok"]


@pytest.mark.requirement("IDEM-2")
async def test_a_call_that_was_on_its_way_when_its_process_died_is_not_made_again() -> None:
    """What may have happened is told and not repeated, and the dead one, coming back, writes nothing more."""
    shelf, store = Shelf(), MemoryStore()
    shelf.open.clear()
    dead, model = ScriptedModel([SAVE]), ScriptedModel(["done"])
    async with on_store(store, dead, shelf.tools) as gate:
        await start(gate, run_id="r")
        await shelf.started.wait()
        store.abandon()
        async with on_store(store, model, shelf.tools, None) as other:
            report = await (await other.runs.get("r", by=ALICE)).result()
            shelf.open.set()
    assert (report.state, len(shelf.saved), len(dead.requests)) == (State.COMPLETE, 1, 1)
    assert "OUTCOME_UNKNOWN" in told(model.requests[0])[1]


async def test_an_answer_that_was_recorded_is_not_asked_for_again() -> None:
    """Its process died between the answer and its call."""
    shelf, store = Shelf(), MemoryStore()
    dead, model = ScriptedModel([READ]), ScriptedModel(["done"])
    async with on_store(store, dead, shelf.tools) as gate:
        stalled = Stalled(gate)
        await start(gate, run_id="r")
        await stalled.there.wait()
        store.abandon()
        async with on_store(store, model, shelf.tools, None) as other:
            report = await (await other.runs.get("r", by=ALICE)).result()
            stalled.go.set()
    assert (report.state, report.spent.rounds, len(dead.requests), len(model.requests)) == (State.COMPLETE, 2, 1, 1)


class Stalled:
    """Stands still where the first call comes to the gate."""

    def __init__(self, gate: Gate) -> None:
        self.there, self.go, self._propose = asyncio.Event(), asyncio.Event(), gate.propose
        gate.propose = self._wait  # type: ignore[method-assign]

    async def _wait(self, call: Any, caller: Any, **more: Any) -> Any:
        self.there.set()
        await self.go.wait()
        return await self._propose(call, caller, **more)
