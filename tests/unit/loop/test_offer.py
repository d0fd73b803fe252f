"""What is offered is what a run is bound to, its agent has, policy may allow today, and works; no other name runs."""

from typing import Any

import pytest

from interlock import Caller, Host, PolicySource, tool
from interlock.core.errors import SettingsInvalid
from interlock.core.lifecycle import Lifecycle
from interlock.core.refusals import Code
from interlock.core.retirement import day
from interlock.loop.agent import Agent
from interlock.loop.offer import Offer, Role, Today, bound_of, offer, planned
from interlock.models.dialects import Dialect, declare
from interlock.models.turn import CallKind, Proposed
from interlock.runtime.retiring import DAY_US
from interlock.testing.fakes import FakeClock
from interlock.testing.models import Said, ScriptedModel
from tests.gates import ALICE, OPERATOR, READS, AnyTool, Shelf
from tests.runs import ended, events, offered, opened, start, told
from tests.steps import steps
from tests.unit.runtime.test_views_growth import clones

pytestmark = pytest.mark.requirement("LOOP-7", "CALL-4")

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}


def an_offer(*names: str, known: tuple[str, ...] = ()) -> Offer:
    declared = declare([(name, "Do.", SCHEMA) for name in names], dialect=Dialect.OPENAI_CHAT)  # type: ignore[misc]
    return Offer(declared, {name: f"digest of {name}" for name in names}, frozenset({*names, *known}))


def proposed(name: str, arguments: str = '{"query": "x"}', **more: object) -> Proposed:
    return Proposed(0, "w", "w", name, arguments, **more)  # type: ignore[arg-type]


def test_a_name_that_was_offered_means_the_version_that_was() -> None:
    plan = planned(proposed("search"), call_id="c", offered=an_offer("search"))
    assert (plan.call.name, plan.pin, plan.deny) == ("search", "digest of search", None)


def test_a_name_that_the_wire_cannot_spell_means_the_tool_that_was_offered_under_it() -> None:
    offer = an_offer("notes.search")
    wire = offer.declarations.names.to_wire["notes.search"]
    assert wire != "notes.search"
    assert planned(proposed(wire), call_id="c", offered=offer).call.name == "notes.search"


@pytest.mark.parametrize("name", ["Search", "search ", "serach", "ns.search"])
def test_no_other_spelling_means_a_tool(name: str) -> None:
    plan = planned(proposed(name), call_id="c", offered=an_offer("search"))
    assert (plan.pin, plan.deny, plan.call.name) == (None, None, name)


def test_a_tool_that_there_is_and_that_was_not_offered_is_refused_before_the_gate() -> None:
    plan = planned(proposed("save"), call_id="c", offered=an_offer("search", known=("save",)))
    assert plan.deny is not None
    assert (plan.pin, plan.deny.code) == (None, Code.TOOL_NOT_ALLOWED)


@pytest.mark.requirement("LOOP-4")
@pytest.mark.parametrize(
    "more",
    [{"server": "other"}, {"namespace": "other"}, {"kind": CallKind.SHELL}, {"kind": CallKind.COMPUTER}],
)
def test_what_is_named_by_more_than_its_name_is_not_ours(more: dict[str, Any]) -> None:
    plan = planned(proposed("search", **more), call_id="c", offered=an_offer("search"))
    assert (plan.pin, plan.call.name == "search") == (None, False)


def test_a_custom_call_has_its_text_for_input() -> None:
    plan = planned(proposed("search", "SELECT 1", kind=CallKind.CUSTOM), call_id="c", offered=an_offer("search"))
    assert plan.call.arguments == {"input": "SELECT 1"}


async def test_an_agent_is_offered_its_own_tools_and_no_other_of_its_principal() -> None:
    script: list[Said] = [("save", {"note": "n", "text": "t"}), "done"]
    shelf = Shelf()
    _, model = await ended(":memory:", script, shelf.tools, agent=Agent("reader", tools=("search",)))
    assert (offered(model.requests[0]), shelf.saved) == (["search"], [])
    assert "TOOL_NOT_ALLOWED" in told(model.requests[1])[1]


async def test_a_run_is_started_with_tools_that_there_are() -> None:
    async with opened(":memory:", ScriptedModel(["done"] * 2), Shelf().tools, READS) as gate:
        for name in ("nothing", "save"):  # none, and one that policy hides
            with pytest.raises(SettingsInvalid, match=f"there is no tool '{name}' that this principal may see"):
                await start(gate, tools=[name])
        await (await start(gate, tools=["search"])).result()


async def test_two_runs_that_start_alike_but_for_the_agent_are_offered_what_each_may_see() -> None:
    policy = """permit (principal, action, resource) when { context.agent == "writer" };"""
    model = ScriptedModel(["done"] * 2)
    async with opened(":memory:", model, Shelf().tools, policy) as gate:
        for agent in ("reader", "writer"):
            await (await start(gate, agent=agent)).result()
    assert [offered(request) for request in model.requests] == [[], ["save", "search"]]


def failing(times: int) -> AnyTool:
    @tool(effect="read", name="fetch")
    async def fetch(page: int) -> str:
        """Fetch a page."""
        raise ConnectionError

    return fetch


async def test_a_tool_that_does_not_work_is_not_offered_until_it_does() -> None:
    script: list[Said] = [*[("fetch", {"page": number}) for number in range(12)], "done"]
    model = ScriptedModel(script)
    async with opened(":memory:", model, [failing(12), *Shelf().tools], [PolicySource("test", READS)]) as gate:
        run = await start(gate)
        await run.result()
        assert len(await events(run, "observed")) == 12
    assert (offered(model.requests[0]), offered(model.requests[-1])) == (["fetch", "search"], ["search"])
    assert "TOOL_UNAVAILABLE" in told(model.requests[-1])[-1]  # called all the same


async def test_a_frozen_tool_that_is_called_all_the_same_says_that_it_is_frozen() -> None:
    model = ScriptedModel([("search", {"query": "x"}), "done"])
    async with opened(":memory:", model, Shelf().tools, READS) as gate:
        await gate.catalogue.move("search", Lifecycle.FROZEN, by=OPERATOR, reason="stop")
        await (await start(gate)).result()
    assert (offered(model.requests[0]), "TOOL_FROZEN" in told(model.requests[1])[1]) == ([], True)


@pytest.mark.requirement("REG-7")
async def test_what_a_run_may_use_is_remembered_until_a_tool_of_it_has_drained() -> None:
    clock = FakeClock()
    async with opened(":memory:", ScriptedModel(["done"]), Shelf().tools, host=Host(clock=clock)) as gate:
        reach, caller = gate.runs._reach, Caller(ALICE, run="r")
        bound = reach.offers.bound(reach.views.current, [caller], None)
        until = day(clock.now_us() + 2 * DAY_US)
        await gate.catalogue.retire("search", by=OPERATOR, reason="gone", drain_until=until)

        def names() -> list[str]:
            tools = reach.offers.usable(reach.views.current, caller, bound, agent=Agent("a"), now_us=clock.now_us())
            return [each.spec.name for each in tools]

        assert [names(), names()] == [["save", "search"]] * 2
        clock.advance(2 * DAY_US / 1_000_000)
        assert names() == ["save"]


@pytest.mark.requirement("SCALE-3")
async def test_an_agent_with_a_few_tools_of_its_own_is_offered_them_at_no_look_at_all_others() -> None:
    async def starting(count: int) -> int:
        async with opened(":memory:", ScriptedModel(["done"]), clones(count), READS) as gate:  # type: ignore[arg-type]
            view, caller, agent = gate._views.current, Caller(ALICE, run="r"), Agent("a")
            role = Role(agent, {"a": agent}, Dialect.OPENAI_CHAT)

            def once() -> None:
                bound = bound_of(view, [caller], ["search", "search_3", "save"])
                given = offer(view, caller, bound, role=role, today=Today(gate.health, 0))
                assert [*given.pins] == ["search", "search_3"]
                assert ("search_4" in given.known, "nothing" in given.known) == (True, False)

            once()
            return steps(once)

    await starting(5)
    assert await starting(200) <= 1.05 * await starting(5)
