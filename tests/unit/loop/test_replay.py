"""A recorded run is decided anew, under today's policies or others, and nothing is executed or counted."""

import pytest

from interlock import PolicySource
from interlock.core.errors import PolicyInvalid
from interlock.loop.agent import Agent
from interlock.loop.desk import RunUnknown
from interlock.loop.machine import State
from interlock.loop.replay import Against
from interlock.testing.models import Call, Said, ScriptedModel
from tests.gates import ALICE, ALL, AUDITOR, BOB, READS, Shelf, records, used
from tests.runs import ASKS_TO_SAVE, opened, reached, start

pytestmark = pytest.mark.requirement("LOOP-7")

READ: Call = ("search", {"query": "x"})
SAVE: Call = ("save", {"note": "n1", "text": "t"})
SCRIPT: list[Said] = [[READ, SAVE], ("search", "{"), "done"]
NO_READS = [PolicySource("test", 'permit (principal, action == Action::"save", resource);')]
NO_SAVES_AFTER_READS = [
    PolicySource(
        "test",
        """
permit (principal, action, resource);
forbid (principal, action == Action::"save", resource) when { context.run.tools.contains("search") };
""",
    )
]


async def test_nothing_differs_under_the_policies_of_then_and_nothing_is_done(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, ScriptedModel(SCRIPT), shelf.tools) as gate:
        run = await start(gate)
        await run.result()
        before = await used(gate, "calls")
        found = await gate.runs.replay(run.id, by=ALICE)
        assert [(each.tool, each.then, each.now, each.differs) for each in found] == [
            ("search", "allow", "allow", False),
            ("save", "allow", "allow", False),
            ("search", "INVALID_JSON", "INVALID_JSON", False),
        ]
        assert (shelf.searched, len(shelf.saved), await used(gate, "calls")) == (["x"], 1, before)


async def test_under_other_policies_it_shows_what_would_be_decided_otherwise_and_why(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(SCRIPT), Shelf().tools) as gate:
        run = await start(gate)
        await run.result()
        first = (await gate.runs.replay(run.id, by=ALICE, policies=NO_READS))[0]
        assert (first.then, first.now, first.differs) == ("allow", "PERMISSION_DENIED", True)
        second = (await gate.runs.replay(run.id, by=ALICE, policies=NO_SAVES_AFTER_READS))[1]
        assert (second.tool, second.now) == ("save", "PERMISSION_DENIED")  # by what the run had read by then
        asks = (await gate.runs.replay(run.id, by=ALICE, policies=[PolicySource("test", ASKS_TO_SAVE)]))[1]
        assert (asks.then, asks.now) == ("allow", "ask")


async def test_a_call_that_waited_was_asked_for_whatever_came_of_it() -> None:
    async with opened(":memory:", ScriptedModel([SAVE, "done"]), Shelf().tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
        await gate.approvals.approve(waits, by=BOB)
        await run.result()
        (found,) = await gate.runs.replay(run.id, by=ALICE, policies=[PolicySource("test", ALL)])
        assert (found.then, found.now) == ("ask", "allow")


@pytest.mark.requirement("REG-4")
@pytest.mark.parametrize("against", Against)
async def test_versions_are_those_of_then_or_of_today(against: Against) -> None:
    async with opened(":memory:", ScriptedModel([READ, "done"]), Shelf().tools) as gate:
        run = await start(gate)
        await run.result()
        (found,) = await gate.runs.replay(run.id, by=ALICE, against=against)
        assert (found.then, found.now) == ("allow", "allow")


async def test_who_may_not_see_the_run_may_not_replay_it_and_that_it_was_done_is_on_record() -> None:
    async with opened(":memory:", ScriptedModel(["done"]), Shelf().tools) as gate:
        run = await start(gate)
        await run.result()
        with pytest.raises(RunUnknown):
            await gate.runs.replay(run.id, by=BOB)
        with pytest.raises(PolicyInvalid):
            await gate.runs.replay(run.id, by=ALICE, policies=[PolicySource("test", "permit (everybody);")])
        await gate.runs.replay(run.id, by=AUDITOR)
        (found,) = await records(gate, "run.replayed")
        assert (found["subject"], found["principal"], found["calls"]) == (run.id, "audrey", 0)


async def test_what_an_agent_had_not_or_its_principal_might_not_see_is_decided_the_same_again() -> None:
    script: list[Said] = [SAVE, ("nothing", {}), "done"]
    agent = Agent("reader", tools=("search",))
    for policy, then in ((ALL, "PERMISSION_DENIED"), (READS, "TOOL_NOT_FOUND")):
        async with opened(":memory:", ScriptedModel(script), Shelf().tools, policy) as gate:
            run = await start(gate, agent=agent)
            await run.result()
            found = await gate.runs.replay(run.id, by=ALICE)
        assert [(each.then, each.now) for each in found] == [(then, then), ("TOOL_NOT_FOUND", "TOOL_NOT_FOUND")]
