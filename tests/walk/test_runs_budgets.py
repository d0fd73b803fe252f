"""Every limit of a run ends it with a reason, after a last turn that is told of it; limits of others hold for runs."""

import asyncio
from collections.abc import Mapping

import pytest

from interlock import Host, Limit, Limits, ScopeKind, Unit, tool
from interlock.core.errors import SettingsInvalid
from interlock.loop.entries import Check
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Price, Reply
from interlock.models.turn import Ended, Turn, Usage
from interlock.testing.fakes import FakeClock
from interlock.testing.models import OPTIONS, Call, Said, ScriptedModel
from tests.gates import Shelf
from tests.runs import ended, happened, opened, start, told

pytestmark = pytest.mark.requirement("BUD-1")

READ: Call = ("search", {"query": "x"})
LAST = "This is your last turn"
NONE = Usage(None, None)
HUNDREDS = Usage(100, 100)
SCOPES = [ScopeKind.AGENT, ScopeKind.PRINCIPAL, ScopeKind.TENANT, ScopeKind.RUN]


def reads(count: int) -> list[Said]:
    """So many turns, each with a call of its own."""
    return [("search", {"query": str(number)}) for number in range(count)]


def dear(script: list[Said], *, usage: Usage = HUNDREDS, name: str = "scripted") -> ScriptedModel:
    """A model whose tokens cost a millionth each, whatever they are."""
    return ScriptedModel(script, price=Price(1_000_000, 1_000_000), usage=usage, name=name)


async def test_of_n_rounds_the_last_is_told_and_the_run_ends_where_it_still_calls(gate_path: str) -> None:
    report, model = await ended(gate_path, reads(9), Shelf().tools, limits=RunLimits(rounds=4))
    assert (report.state, report.reason, report.spent.rounds) == (State.ABORTED, "rounds", 4)
    assert report.why == "It called tools in its last turn: rounds (at most 4)."
    assert [LAST in told(request)[-1] for request in model.requests] == [False, False, False, True]
    assert [request["tool_choice"] for request in model.requests][-1] == "none"


@pytest.mark.requirement("LOOP-8")
async def test_a_model_that_answers_in_its_last_turn_has_completed() -> None:
    report, _ = await ended(":memory:", [READ, "this is what I have"], Shelf().tools, limits=RunLimits(rounds=2))
    assert (report.state, report.answer) == (State.COMPLETE, "this is what I have")
    assert report.why == "It answered in its last turn: rounds (at most 2)."


@pytest.mark.requirement("LOOP-8")
async def test_a_model_that_answers_in_its_last_turn_is_checked_and_both_are_said(gate_path: str) -> None:
    @tool(effect="read")
    async def is_done() -> bool:
        """Say whether it is done."""
        return False

    tools, limits, check = [*Shelf().tools, is_done], RunLimits(calls=1), Check("is_done")
    report, _ = await ended(gate_path, [READ, "this is what I have"], tools, limits=limits, check=check)
    assert (report.state, report.success) == (State.COMPLETE, False)
    assert report.why == "It answered in its last turn: calls (at most 1)."


async def test_one_round_is_one_request_and_none_is_none() -> None:
    report, model = await ended(":memory:", [READ], Shelf().tools, limits=RunLimits(rounds=1))
    assert (report.state, report.reason, len(model.requests)) == (State.ABORTED, "rounds", 1)
    assert report.why == "It has used up its rounds: 1 of 1."
    report, model = await ended(":memory:", [], Shelf().tools, limits=RunLimits(rounds=0))
    assert (report.state, report.reason, len(model.requests)) == (State.ABORTED, "rounds", 0)


async def test_of_n_calls_n_run_the_others_are_refused_and_the_next_turn_is_the_last(gate_path: str) -> None:
    shelf = Shelf()
    script: list[Said] = [[("search", {"query": str(number)}) for number in range(4)], "done"]
    report, model = await ended(gate_path, script, shelf.tools, limits=RunLimits(calls=3))
    assert (report.state, sorted(shelf.searched), report.spent.calls) == (State.COMPLETE, ["0", "1", "2"], 4)
    assert "BUDGET_EXHAUSTED: The run has made as many calls as it may (calls: 3 of 3)." in told(model.requests[1])[4]
    assert LAST in told(model.requests[1])[-1]


async def test_of_one_tool_so_many_calls_run_and_others_are_not_held_up() -> None:
    shelf = Shelf()
    script: list[Said] = [READ, READ, ("save", {"note": "n", "text": "t"}), "done"]
    report, model = await ended(":memory:", script, shelf.tools, limits=RunLimits(calls_per_tool={"search": 1}))
    assert (report.state, shelf.searched, len(shelf.saved)) == (State.COMPLETE, ["x"], 1)
    assert "calls of search: 1 of 1" in told(model.requests[2])[2]


async def test_calls_that_were_refused_for_the_limit_are_refused_again_by_whoever_takes_the_run_over() -> None:
    """The count is of the journal: what was counted once is counted the same again."""
    shelf = Shelf()
    limits = RunLimits(calls=3)
    script: list[Said] = [[READ, READ], [READ, READ], "done"]
    report, _ = await ended(":memory:", script, shelf.tools, limits=limits)
    assert (report.state, len(shelf.searched), report.spent.calls) == (State.COMPLETE, 3, 4)


async def test_tokens_are_counted_in_and_out_and_the_last_turn_comes_before_they_are_gone(gate_path: str) -> None:
    report, model = await ended(gate_path, reads(9), Shelf().tools, limits=RunLimits(tokens=100))
    assert (report.state, report.reason, report.spent.tokens) == (State.ABORTED, "tokens", 90)
    assert "of 100 tokens left" in told(model.requests[-1])[-1]


async def test_a_run_that_has_no_tokens_left_is_not_asked_again() -> None:
    model = ScriptedModel([*reads(2), "never"], usage=Usage(400, 700))
    async with opened(":memory:", model, Shelf().tools) as gate:
        report = await (await start(gate, limits=RunLimits(tokens=1_000))).result()
    assert (report.state, report.reason, len(model.requests)) == (State.ABORTED, "tokens", 1)


async def test_cost_is_counted_by_the_price_of_the_model(gate_path: str) -> None:
    model = dear(reads(9))
    async with opened(gate_path, model, Shelf().tools) as gate:
        report = await (await start(gate, limits=RunLimits(cost_micros=700))).result()
    assert (report.state, report.reason, report.spent.cost_micros) == (State.ABORTED, "cost_micros", 600)
    assert "100 of 700 cost left" not in told(model.requests[-1])[-1]
    assert "300 of 700 cost left" in told(model.requests[-1])[-1]


@pytest.mark.requirement("BUD-3")
async def test_a_limit_on_cost_needs_a_price() -> None:
    async with opened(":memory:", ScriptedModel([]), Shelf().tools) as gate:
        with pytest.raises(SettingsInvalid, match="needs the price of the model scripted"):
            await start(gate, limits=RunLimits(cost_micros=1))


@pytest.mark.requirement("BUD-3")
async def test_usage_that_is_not_reported_is_charged_at_the_most(gate_path: str) -> None:
    model = dear([READ, "never"], usage=NONE)
    async with opened(gate_path, model, Shelf().tools) as gate:
        run = await start(gate, limits=RunLimits(cost_micros=1_100))
        report = await run.result()
        seen = await happened(run, "responded")
    assert (report.state, report.reason, seen.data["reported"]) == (State.ABORTED, "cost_micros", False)
    assert report.spent.cost_micros > OPTIONS.tokens_max + 100  # the answer's most, and a token for each byte sent


@pytest.mark.requirement("BUD-3")
async def test_an_answer_that_broke_off_is_charged_and_one_that_was_refused_is_not(gate_path: str) -> None:
    cut = Reply(Turn("", (), Ended.DROPPED, reason="cut", raw=b"data: {"), streamed=True)
    busy = Reply(Turn("", (), Ended.HTTP_ERROR, reason="busy"), status=503, may_repeat=True)
    model = dear([busy, cut, "done"])
    async with opened(gate_path, model, Shelf().tools, host=Host(clock=FakeClock())) as gate:
        report = await (await start(gate)).result()
    assert (report.state, report.spent.rounds) == (State.COMPLETE, 1)
    assert 1_000 < report.spent.cost_micros - 200 < 3_000
    bad = Reply(Turn("", (), Ended.HTTP_ERROR, reason="bad"), status=400)
    report, _ = await ended(":memory:", [bad], Shelf().tools)
    assert (report.state, report.reason, report.spent.tokens) == (State.FAILED, "model", 0)


async def test_working_time_is_that_of_models_and_calls_and_not_of_waiting(gate_path: str) -> None:
    clock = FakeClock()

    class Thinking(ScriptedModel):
        async def ask(self, body: Mapping[str, object]) -> Reply:
            clock.advance(4)
            return await super().ask(body)

    @tool(effect="read", name="search")
    async def search(query: str) -> str:
        """Search for three seconds."""
        clock.advance(3)
        return query

    model = Thinking(reads(9))
    async with opened(gate_path, model, [search], host=Host(clock=clock)) as gate:
        report = await (await start(gate, limits=RunLimits(working_s=20))).result()
    assert (report.state, report.reason, len(model.requests)) == (State.ABORTED, "working_s", 3)
    assert 20_000 < report.spent.working_ms < 22_000


async def test_faults_of_a_model_are_borne_so_often_and_use_up_the_time(gate_path: str) -> None:
    clock = FakeClock()
    busy = Reply(Turn("", (), Ended.HTTP_ERROR, reason="busy"), status=503, may_repeat=True)

    class Hanging(ScriptedModel):
        async def ask(self, body: Mapping[str, object]) -> Reply:
            clock.advance(8)
            return await super().ask(body)

    model = Hanging([busy] * 6)
    async with opened(gate_path, model, Shelf().tools, host=Host(clock=clock)) as gate:
        report = await (await start(gate, limits=RunLimits(working_s=20))).result()
        assert (report.state, report.reason, len(model.requests)) == (State.ABORTED, "working_s", 3)
    report, _ = await ended(":memory:", [busy] * 3, Shelf().tools, limits=RunLimits(faults=2))
    assert (report.state, report.reason, report.why) == (State.FAILED, "model", "busy (3 times in a row)")


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(("unit", "amount"), [(Unit.ROUNDS, 2), (Unit.TOKENS, 4_000), (Unit.COST_MICROS, 4_000)])
async def test_limits_of_others_end_a_run_that_has_no_room_for_another_request(
    scope: ScopeKind, unit: Unit, amount: int
) -> None:
    model = dear(reads(9), usage=Usage(900, 600))
    async with opened(":memory:", model, Shelf().tools, limits=[Limit(scope, unit, amount)]) as gate:
        report = await (await start(gate)).result()
    assert (report.state, report.reason, len(model.requests)) == (State.ABORTED, "budget", 2)
    assert report.why == f"The budget of {amount} {unit.value} on {scope.value} leaves no room for another request."


@pytest.mark.requirement("BUD-2")
async def test_runs_side_by_side_never_use_more_than_they_share(gate_path: str) -> None:
    models = [dear(reads(9), usage=Usage(500, 500), name=f"m{number}") for number in range(5)]
    limits = [Limit(ScopeKind.TENANT, Unit.COST_MICROS, 9_000)]
    async with opened(gate_path, models, Shelf().tools, limits=limits) as gate:
        runs = [await start(gate, model=model.name) for model in models]
        reports = await asyncio.gather(*[run.result() for run in runs])
        (used,) = [usage for scope, usage in await gate.usage("acme") if scope.kind is ScopeKind.TENANT]
    assert {report.reason for report in reports} == {"budget"}
    assert used.used.cost_micros == sum(report.spent.cost_micros for report in reports)
    assert 5_000 < used.used.cost_micros <= 9_000
    assert used.held.cost_micros == 0


async def test_a_rate_makes_a_run_wait_for_the_next_window_and_not_end(gate_path: str) -> None:
    clock, model = FakeClock(), ScriptedModel([READ, READ, "done"])
    limits = [Limit(ScopeKind.TENANT, Unit.ROUNDS, 2, window_s=3_600)]
    async with opened(gate_path, model, Shelf().tools, limits=limits, host=Host(clock=clock)) as gate:
        run = await start(gate)
        await happened(run, "observed", after=(await happened(run, "observed")).cursor)
        assert not (await run.report()).state.is_over
        clock.advance(3_601)
        assert (await run.result()).state is State.COMPLETE


async def test_limits_as_those_of_the_installation_are_taken_where_a_run_has_them() -> None:
    assert RunLimits.of(Limits((Limit(ScopeKind.RUN, Unit.WORKING_MS, 1_500),))).working_s == 1.5
    assert RunLimits.of(Limits((Limit(ScopeKind.RUN, Unit.ROUNDS, 7),))).rounds == 7
    for limit in (
        Limit(ScopeKind.OPERATION, Unit.CALLS, 1),
        Limit(ScopeKind.TENANT, Unit.CALLS, 1),
        Limit(ScopeKind.RUN, Unit.CALLS, 1, window_s=60),
    ):
        with pytest.raises(SettingsInvalid, match="set that in Settings"):
            RunLimits.of(Limits((limit,)))


@pytest.mark.parametrize("given", [-1, True, "3", float("inf")])
def test_a_limit_that_is_no_amount_is_refused(given: object) -> None:
    with pytest.raises(SettingsInvalid, match="rounds is a number from 0, or None"):
        RunLimits(rounds=given)  # type: ignore[arg-type]
