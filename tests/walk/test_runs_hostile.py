"""Models, their servers and those who start runs do as they please: a run keeps to its limits and comes to an end."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from interlock import Gate, Limit, Principal, PrincipalKind, ScopeKind, Unit, tool
from interlock.core.errors import SettingsInvalid
from interlock.engines import embedded
from interlock.loop.agent import Agent
from interlock.loop.desk import Run, RunExists
from interlock.loop.entries import Check
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Price, Reply
from interlock.models.turn import Usage
from interlock.testing.models import Call, ScriptedModel
from tests.gates import ALICE, AnyTool, Shelf, used
from tests.runs import ended, events, happened, opened, start, told

READ: Call = ("search", {"query": "x"})
SECRET = "hunter2-of-the-north-wind"


def acting_for(whom: str) -> Principal:
    return Principal("acme", "bot", PrincipalKind.AGENT, groups=frozenset({"eng"}), acting_for=whom)


def answering(text: str, **usage: int) -> bytes:
    """A body with what no encoder of ours would write."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    used = {"prompt_tokens": 20, "completion_tokens": 10, **usage}
    return json.dumps({"object": "chat.completion", "choices": [choice], "usage": used}).encode()


class Meanwhile(ScriptedModel):
    """A model that thinks for as long as something else is done."""

    async def do(self) -> None:
        """What is done while it is asked first."""

    async def ask(self, body: Mapping[str, object]) -> Reply:
        if not self.requests:
            await self.do()
        return await super().ask(body)


@pytest.mark.requirement("LOOP-7", "CALL-2")
async def test_an_answer_that_cannot_be_encoded_is_kept_as_far_as_it_can_be(gate_path: str) -> None:
    model = ScriptedModel([answering("so \ud800 far")])
    async with opened(gate_path, model, Shelf().tools) as gate:
        run = await start(gate)
        report = await run.result(timeout_s=5)
        said = [each.to_json() for each in await events(run)]
    assert (report.state, report.answer, len(model.requests)) == (State.COMPLETE, "so \ufffd far", 1)
    assert json.dumps(said, ensure_ascii=False).encode()


@pytest.mark.requirement("BUD-2", "BUD-3")
@pytest.mark.parametrize("told_tokens", [2**41, 2**63, 2**79 + 5, 10**40])
async def test_a_provider_that_reports_what_cannot_be_is_charged_the_most_there_can_have_been(
    told_tokens: int, gate_path: str
) -> None:
    model = ScriptedModel([answering("ok", prompt_tokens=told_tokens)], price=Price(1_000_000, 1_000_000))
    limits = [Limit(ScopeKind.TENANT, Unit.TOKENS, 10**9), Limit(ScopeKind.TENANT, Unit.COST_MICROS, 10**9)]
    async with opened(gate_path, model, Shelf().tools, limits=limits) as gate:
        run = await start(gate)
        report = await run.result(timeout_s=5)
        assert await used(gate, "tokens") > 0
        responded = await happened(run, "responded")
    assert (report.state, responded.data["reported"]) == (State.COMPLETE, False)
    assert 10 < report.spent.tokens < 100_000


@pytest.mark.requirement("BUD-1")
async def test_usage_below_zero_gives_nothing_back() -> None:
    model = ScriptedModel([READ, "done"], usage=Usage(-1_000_000, -1_000_000))
    async with opened(":memory:", model, Shelf().tools) as gate:
        assert (await (await start(gate)).result(timeout_s=5)).spent.tokens > 0


@pytest.mark.requirement("LOOP-9")
async def test_who_acts_for_another_does_not_get_at_the_run_of_whom_it_acted_for_before(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(["of alice"]), Shelf().tools) as gate:
        await (await start(gate, by=acting_for("alice"), run_id="r")).result()
        assert (await (await start(gate, by=acting_for("alice"), run_id="r")).result()).answer == "of alice"
        with pytest.raises(RunExists):
            await start(gate, by=acting_for("bob"), run_id="r")


@pytest.mark.requirement("LOOP-7", "POL-1")
@pytest.mark.parametrize("many", [False, True])
async def test_a_tool_that_is_published_while_the_model_thinks_is_none_of_the_runs(many: bool) -> None:
    ran = list[str]()
    model = Meanwhile([[("new", {}), READ] if many else ("new", {}), "done"])
    async with opened(":memory:", model, Shelf().tools) as gate:

        async def publish() -> None:
            await gate.catalogue.register([gate._bound(_new(ran))], by=gate._host)

        model.do = publish  # type: ignore[method-assign]
        report = await (await start(gate, tools=["search"])).result(timeout_s=5)
    assert (report.state, ran) == (State.COMPLETE, [])
    assert "TOOL_NOT_ALLOWED" in str(model.requests[1]["messages"])


def _new(ran: list[str]) -> AnyTool:
    @tool(effect="read", owner="eng", name="new")
    async def new() -> str:
        """New."""
        ran.append("new")
        return "x"

    return new


@pytest.mark.requirement("OBS-5")
async def test_half_of_a_secret_is_in_no_event_either() -> None:
    model = ScriptedModel([("search", {"query": "x"}), f"{'a' * 3_990}{SECRET}"])
    async with opened(":memory:", model, Shelf().tools, secrets=(SECRET,)) as gate:
        run = await start(gate, task=f"{'b' * 3_985}{SECRET}")
        await run.result(timeout_s=5)
        said = [json.dumps(each.to_json()) for each in await events(run)]
    assert not [each for each in said if SECRET[:4] in each]


@pytest.mark.requirement("LOOP-9")
async def test_a_name_that_is_a_book_does_not_go_to_every_watcher() -> None:
    model = ScriptedModel([("n" * 1_000_000, {}), "done"])
    async with opened(":memory:", model, Shelf().tools) as gate:
        run = await start(gate)
        await run.result(timeout_s=5)
        assert max(len(json.dumps(each.to_json())) for each in await events(run)) < 10_000


@pytest.mark.requirement("BUD-1")
async def test_calls_of_one_tool_are_counted_however_they_are_spelled(gate_path: str) -> None:
    ran = list[str]()

    @tool(effect="read", owner="eng", name="notes.search")
    async def search(query: str) -> str:
        """Search."""
        ran.append(query)
        return query

    def script(body: Mapping[str, Any]) -> Call | str:
        wire = body["tools"][0]["function"]["name"]
        names = ["notes.search", wire, "notes.search", wire]
        made = sum(each["role"] == "assistant" for each in body["messages"])
        return (names[made], {"query": str(made)}) if made < len(names) else "done"

    limits = RunLimits(calls_per_tool={"notes.search": 2})
    report, _ = await ended(gate_path, script, [search], limits=limits)
    assert (report.state, ran, report.spent.per_tool) == (State.COMPLETE, ["0", "1"], {"notes.search": 4})


@pytest.mark.requirement("LOOP-6")
async def test_the_same_failing_call_is_the_same_whatever_its_json_looks_like() -> None:
    @tool(effect="read", owner="eng", name="fails")
    async def fails(a: int, b: int) -> str:
        """Fail."""
        raise ValueError

    spelled = ['{"a": 1, "b": 2}', '{"b":2,"a":1}', '{"a":1,"b":2.0}', "never"]
    report, _ = await ended(":memory:", [("fails", each) for each in spelled], [fails])
    assert (report.state, report.reason) == (State.ABORTED, "repeats")


@pytest.mark.requirement("BUD-1")
async def test_a_request_that_fits_in_no_window_ends_the_run(gate_path: str) -> None:
    limits = [Limit(ScopeKind.TENANT, Unit.TOKENS, 500, window_s=1)]
    async with opened(gate_path, ScriptedModel(["never"]), Shelf().tools, limits=limits) as gate:
        report = await (await start(gate)).result(timeout_s=5)
    assert (report.state, report.reason) == (State.ABORTED, "budget")


@pytest.mark.requirement("LOOP-10")
async def test_what_was_said_while_the_task_was_handed_over_is_heard_by_who_has_it_now() -> None:
    model = Meanwhile([("hand_off", {"agent": "writer", "message": "go"}), READ, "done"])
    agents = Agent("planner", hand_offs=("writer",)), Agent("writer")
    async with opened(":memory:", model, Shelf().tools, hand_off_owner="eng") as gate:
        run: Run

        async def say() -> None:
            assert await run.say("Only the blue ones!") is None

        model.do = say  # type: ignore[method-assign]
        run = await start(gate, agent=agents[0], agents=agents[1:])
        assert (await run.result(timeout_s=5)).agent == "writer"
    assert "Only the blue ones!" in told(model.requests[1])
    assert told(model.requests[2]).count("Only the blue ones!") == 1


@pytest.mark.requirement("LOOP-8")
async def test_a_check_changes_nothing() -> None:
    shelf = Shelf()
    async with opened(":memory:", ScriptedModel(["done"]), shelf.tools) as gate:
        with pytest.raises(SettingsInvalid, match="a check only reads"):
            await start(gate, check=Check("save", '{"note": "n1", "text": "t"}'))
    assert shelf.saved == []


@pytest.mark.requirement("LOOP-8")
async def test_a_model_that_never_answers_does_not_outlast_the_runs_time(gate_path: str) -> None:
    class Silent(ScriptedModel):
        async def ask(self, body: Mapping[str, object]) -> Reply:
            await asyncio.Event().wait()
            return await super().ask(body)

    async with opened(gate_path, Silent([]), Shelf().tools) as gate:
        report = await (await start(gate, limits=RunLimits(expires_s=0.2))).result(timeout_s=5)
    assert (report.state, report.reason) == (State.ABORTED, "expired")


@pytest.mark.requirement("LOOP-7")
@pytest.mark.parametrize(
    "odd",
    [
        {"run_id": "r" * 225},
        {"run_id": "r\0"},
        {"run_id": "r\ud800"},
        {"task_id": "t" * 513},
        {"task_id": "\ud800"},
        {"trace_id": "t\0"},
        {"principal": Principal("acme", "alice\0")},
    ],
)
async def test_a_run_none_of_whose_calls_could_be_recorded_does_not_begin(odd: dict[str, Any], gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel([READ, "done"]), Shelf().tools) as gate:
        with pytest.raises(SettingsInvalid, match="can"):
            await gate.runs.start(**{"model": "scripted", "task": "Do it.", "principal": ALICE, **odd})
        report = await (await start(gate, run_id="r" * 224)).result(timeout_s=5)
        assert (report.state, await _tools(gate, report.id)) == (State.COMPLETE, ["ok"])


async def _tools(gate: Gate, run_id: str) -> list[str]:
    return [each.status.value for each in await gate.runs.observations(run_id, by=ALICE)]


@pytest.mark.parametrize("limit", [{"expires_s": 1e13}, {"tokens": 10**30}, {"calls_per_tool": {"x": 10**30}}])
def test_a_limit_that_no_store_can_hold_is_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(SettingsInvalid, match="the most is"):
        RunLimits(**limit)


class Cancels(ScriptedModel):
    """A model whose client cancels its own work."""

    async def ask(self, body: Mapping[str, object]) -> Reply:
        await super().ask(body)
        raise asyncio.CancelledError


@pytest.mark.requirement("LOOP-7")
async def test_a_model_that_cancels_itself_ends_its_run_and_holds_nothing(
    gate_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "PAUSE_S", 0.001)
    limits = [Limit(ScopeKind.TENANT, Unit.TOKENS, 10**9)]
    model = Cancels(["never"] * embedded.FAILURES_MAX)
    async with opened(gate_path, model, Shelf().tools, limits=limits) as gate:
        report = await (await start(gate)).result(timeout_s=10)
        assert await used(gate, "tokens") > 0
    assert (report.state, report.reason) == (State.FAILED, "fault")


@pytest.mark.requirement("BUD-2")
async def test_a_run_waits_for_what_others_hold_and_do_not_use(gate_path: str) -> None:
    limits = [Limit(ScopeKind.TENANT, Unit.TOKENS, 2_000)]  # each request may use more than half of it, and uses 30
    holds, go = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def ask(self, body: Mapping[str, object]) -> Reply:
            holds.set()
            await go.wait()
            return await super().ask(body)

    model = Slow(["one", "two"])
    async with opened(gate_path, model, Shelf().tools, limits=limits) as gate:
        runs = [await start(gate), await start(gate)]
        await holds.wait()
        assert await gate.runs.recover() == 0
        go.set()
        found = [await run.result(timeout_s=10) for run in runs]
    assert {(each.state, each.answer) for each in found} == {(State.COMPLETE, "one"), (State.COMPLETE, "two")}
