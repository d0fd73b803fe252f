"""An emergency stop closes all that it names at once, and its end opens exactly that."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock import Caller, Gate, PolicySource, ToolCall, Vendor, tool
from interlock.core.agents import AgentTools, ToolUse
from interlock.core.call import Origin
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import ActRefused, MoveRefused, SpecInvalid, ToolUnknown
from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle
from interlock.core.stops import StopScope
from tests.gates import ALICE, ALL, OPERATOR, AnyTool, Shelf, code, opened, records, save, search
from tests.unit.runtime.test_catalogue import search_of

pytestmark = pytest.mark.requirement("REG-2")

GLOBEX = replace(ALICE, tenant="globex")
EVERYTHING = StopScope(tenant="*")
BOTH = [PolicySource("test", ALL), PolicySource("own", ALL.replace("all", "own"), tenant="globex")]


def of_vendor(name: str, vendor: str) -> AnyTool:
    @tool(effect="read", owner="eng", name=name, vendor=Vendor(vendor))
    async def ask(query: str) -> str:
        """Ask a vendor."""
        return query

    return ask


async def asks(gate: Gate, name: str, by: Any = ALICE) -> str:
    return code(await gate.call(ToolCall("c", name, {"query": "x"}), principal=by))


async def test_everything_is_stopped_and_what_was_closed_otherwise_stays_so_when_it_ends(gate_path: str) -> None:
    versions = [search_of(each, version=each) for each in "123"]
    async with opened(gate_path, [*versions, Shelf().save]) as gate:
        await gate.catalogue.move("search", Lifecycle.QUARANTINED, version="1", by=OPERATOR, reason="unsafe")
        await gate.catalogue.freeze("search", version="2", by=OPERATOR, reason="doubts")
        stop = await gate.catalogue.stop(EVERYTHING, by=OPERATOR, reason="emergency")
        assert code(await gate.call(search(), principal=ALICE)) == "TOOL_FROZEN"
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "TOOL_FROZEN"
        await gate.catalogue.freeze("save", by=OPERATOR, reason="it saves twice")
        with pytest.raises(SpecInvalid):
            await gate.catalogue.freeze("save", by=OPERATOR, reason="again")
        await gate.catalogue.lift(stop.id, by=OPERATOR, reason="over")
        states = [each.state.value for each in await gate.catalogue.list_versions("search")]
        assert states == ["quarantined", "frozen", "available"]
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "TOOL_FROZEN"
        (put_up,), (lifted,) = await records(gate, "tool.stopped"), await records(gate, "tool.stop_lifted")
        assert (put_up["reason"], put_up["stops"], lifted["subject"]) == ("emergency", "every tool", stop.id)


async def test_a_vendor_a_source_or_a_tool_is_stopped_and_no_other(gate_path: str) -> None:
    tools = [of_vendor("one", "Acme Ltd"), of_vendor("two", "Acme Ltd"), of_vendor("three", "Other")]
    async with opened(gate_path, tools) as gate:
        for scope, stopped in (
            (StopScope(tenant="*", vendor="Acme Ltd"), {"one", "two"}),
            (StopScope(tenant="*", source="python"), {"one", "two", "three"}),
            (StopScope(tenant="*", tool="three"), {"three"}),
            (StopScope(tenant="*", source="mcp:x"), set()),
        ):
            stop = await gate.catalogue.stop(scope, by=OPERATOR, reason="why")
            names = ("one", "two", "three")
            assert {name for name in names if await asks(gate, name) == "TOOL_FROZEN"} == stopped
            await gate.catalogue.lift(stop.id, by=OPERATOR, reason="over")
            assert {await asks(gate, name) for name in names} == {"ok"}


async def test_a_tenant_is_stopped_and_others_go_on_with_what_all_share(gate_path: str) -> None:
    async with opened(gate_path, [Shelf().search], BOTH) as gate:
        await gate.catalogue.stop(StopScope(tenant="globex"), by=OPERATOR, reason="compromised")
        assert (await asks(gate, "search"), await asks(gate, "search", GLOBEX)) == ("ok", "TOOL_FROZEN")


async def test_of_stops_that_overlap_each_holds_what_it_covers_until_it_ends(gate_path: str) -> None:
    async with opened(gate_path, [Shelf().search]) as gate:
        first = await gate.catalogue.stop(StopScope(tenant="*", tool="search"), by=OPERATOR, reason="one")
        second = await gate.catalogue.stop(EVERYTHING, by=OPERATOR, reason="two")
        assert [each.id for each in await gate.catalogue.stops(by=OPERATOR)] == [first.id, second.id]
        await gate.catalogue.lift(first.id, by=OPERATOR, reason="over")
        assert await asks(gate, "search") == "TOOL_FROZEN"
        await gate.catalogue.lift(second.id, by=OPERATOR, reason="over")
        assert await asks(gate, "search") == "ok"
        with pytest.raises(ToolUnknown):
            await gate.catalogue.lift(second.id, by=OPERATOR, reason="again")


async def test_what_is_published_under_a_stop_is_stopped_and_pins_do_not_help(gate_path: str) -> None:
    async with opened(gate_path, [search_of("one")]) as gate:
        await gate.catalogue.stop(StopScope(tenant="*", source="python"), by=OPERATOR, reason="why")
        await gate.catalogue.register([gate._bound(search_of("two", version="2"))], by=OPERATOR)
        await gate.catalogue.register([gate._bound(Shelf().save)], by=OPERATOR)
        assert await asks(gate, "search") == "TOOL_FROZEN"
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "TOOL_FROZEN"
        for each in await gate.catalogue.list_versions("search"):
            bound = Caller(ALICE, run="r", pin=each.digest)
            assert code(await gate.propose(search(), bound)) == "TOOL_FROZEN"


async def test_a_stop_ends_the_time_that_a_retired_version_drains(gate_path: str) -> None:
    async with opened(gate_path, [Shelf().search]) as gate:
        bound = Caller(ALICE, run="r", pin=gate.catalogue.get("search").digest)
        await gate.catalogue.retire("search", by=OPERATOR, reason="gone", drain_until="2999-01-01")
        assert code(await gate.propose(search(), bound)) == "ok"
        stop = await gate.catalogue.stop(EVERYTHING, by=OPERATOR, reason="emergency")
        assert code(await gate.propose(search(), bound)) == "TOOL_RETIRED"
        await gate.catalogue.lift(stop.id, by=OPERATOR, reason="over")
        assert code(await gate.propose(search(), bound)) == "ok"


async def test_a_stop_that_cannot_be_read_stops_all_that_it_can_have_meant(gate_path: str) -> None:
    async with opened(gate_path, [Shelf().search], BOTH) as gate:
        event = gate._records.act(EventKind.TOOL_STOPPED, "acme", {"subject": "s"})
        document = Document("globex", DocumentKind.STOP, "s", 1, b'{"id":7}')
        await gate._world.documents.save_documents((document,), event)
        assert (await asks(gate, "search"), await asks(gate, "search", GLOBEX)) == ("ok", "TOOL_FROZEN")
        await gate.catalogue.lift("s", by=OPERATOR, reason="broken")
        assert await asks(gate, "search", GLOBEX) == "ok"


async def test_operators_stop_what_is_their_tenants_and_see_no_stops_of_others(gate_path: str) -> None:
    theirs = replace(OPERATOR, tenant="globex")
    async with opened(gate_path, [Shelf().search], BOTH) as gate:
        for by, scope in ((ALICE, EVERYTHING), (theirs, EVERYTHING), (theirs, StopScope(tenant="acme"))):
            with pytest.raises(ActRefused):
                await gate.catalogue.stop(scope, by=by, reason="why")
        with pytest.raises(MoveRefused):
            await gate.catalogue.stop(EVERYTHING, by=OPERATOR, reason=" ")
        ours = await gate.catalogue.stop(StopScope(tenant="acme"), by=OPERATOR, reason="why")
        own = await gate.catalogue.stop(StopScope(tenant="globex"), by=theirs, reason="why")
        assert [each.id for each in await gate.catalogue.stops(by=theirs)] == [own.id]
        with pytest.raises(ToolUnknown):
            await gate.catalogue.lift(ours.id, by=theirs, reason="mine")
        with pytest.raises(ActRefused):
            await gate.catalogue.lift(own.id, by=GLOBEX, reason="mine")
        assert await asks(gate, "search") == "TOOL_FROZEN"


STEPS = st.sampled_from(["freeze", "release", "stop", "lift", "quarantine", "retire", "restrict", "open"])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(STEPS, st.sampled_from([None, "1", "2"])), max_size=8))
async def test_whatever_is_done_in_whatever_order_nothing_opens_that_somebody_closed_otherwise(
    steps: list[tuple[str, str | None]],
) -> None:
    async with opened(":memory:", [search_of(each, version=each) for each in "12"]) as gate:
        stops: list[str] = []
        for what, version in steps:
            before = await states(gate)
            with suppress(SpecInvalid):
                await done(gate, what, version, stops=stops)
            after = await states(gate)
            assert all(after[each] is Lifecycle.RETIRED for each in before if before[each] is Lifecycle.RETIRED)
            kept = [each for each in before if before[each] is not Lifecycle.FROZEN]
            assert what not in ("release", "stop", "lift") or all(after[each] is before[each] for each in kept)
            assert not stops or await asks(gate, "search") != "ok"


async def states(gate: Gate) -> dict[str, Lifecycle]:
    return {each.version: each.state for each in await gate.catalogue.list_versions("search")}


async def done(gate: Gate, what: str, version: str | None, *, stops: list[str]) -> None:
    """One step, if it can be made."""
    acts, more = gate.catalogue, {"version": version, "by": OPERATOR, "reason": "why"}
    states = {
        "quarantine": Lifecycle.QUARANTINED,
        "retire": Lifecycle.RETIRED,
        "restrict": Lifecycle.RESTRICTED,
        "open": Lifecycle.AVAILABLE,
    }
    if what == "stop":
        stops.append((await acts.stop(EVERYTHING, by=OPERATOR, reason="why")).id)
    elif what == "lift" and stops:
        await acts.lift(stops.pop(), by=OPERATOR, reason="why")
    elif what == "freeze":
        await acts.freeze("search", **more)
    elif what == "release":
        await acts.release("search", **more)
    elif what in states:
        await acts.move("search", states[what], **more)


async def test_what_an_agent_is_pinned_to_is_stopped_too(gate_path: str) -> None:
    async with opened(gate_path, [search_of(each, version=each) for each in "12"]) as gate:
        await gate.agents.save(AgentTools("clerk", "acme", (ToolUse("search", "1"),)), by=OPERATOR, reason="pinned")
        clerk = Caller(ALICE, origin=Origin(agent="clerk"))
        assert (await gate.propose(search(), clerk)).data == ["1"]
        stop = await gate.catalogue.stop(StopScope(tenant="*", tool="search"), by=OPERATOR, reason="emergency")
        assert code(await gate.propose(search(), clerk)) == "TOOL_FROZEN"
        await gate.catalogue.lift(stop.id, by=OPERATOR, reason="over")
        await gate.catalogue.freeze("search", version="1", by=OPERATOR, reason="doubts")
        assert code(await gate.propose(search(), clerk)) == "TOOL_FROZEN"
