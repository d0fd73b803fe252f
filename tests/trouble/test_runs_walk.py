"""Budgets, results and injected orders that went wrong in loops of others, replayed against whole runs."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock import Limit, ScopeKind, Unit, tool
from interlock.core.labels import Labels, Trust
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Price, Reply
from interlock.models import openai_chat
from interlock.models.turn import Usage
from interlock.testing.models import Said, ScriptedModel
from tests.gates import AnyTool, Shelf
from tests.runs import ended, happened, opened, start, told

pytestmark = pytest.mark.trouble

TroubleCase = Callable[[str], Mapping[str, Any]]
WEB = Labels(trust=Trust.UNTRUSTED, origins=frozenset({"web"}))
ASKS_AFTER_THE_WEB = """
permit (principal, action, resource);
@approval("approver") permit (principal, action in Action::"effect", resource) when { context.run.trust < 1 };
"""


@pytest.mark.requirement("BUD-1")
async def test_n_turns_are_n_requests_and_an_answer_in_the_next_one_is_past_the_limit(
    trouble_case: TroubleCase,
) -> None:
    """BUD-01: a limit of 150 turns gave 18, since every layer counted its own steps; the error cut the answer off."""
    most = trouble_case("BUD-01")["input"]["max_turns"]
    script: list[Said] = [*[("search", {"query": str(number)}) for number in range(most)], "an answer"]
    shelf = Shelf()
    report, model = await ended(":memory:", script, shelf.tools, limits=RunLimits(rounds=most))
    assert (len(model.requests), report.state, report.reason) == (most, State.ABORTED, "rounds")
    report, model = await ended(":memory:", script, shelf.tools, limits=RunLimits(rounds=most + 1))
    assert (len(model.requests), report.state, report.answer) == (most + 1, State.COMPLETE, "an answer")


@pytest.mark.requirement("BUD-1", "BUD-2")
async def test_of_five_runs_that_start_at_once_only_as_many_ask_as_the_rest_pays_for(
    trouble_case: TroubleCase, gate_path: str
) -> None:
    """BUD-03: five children read the same stale sum, and the ceiling was exceeded five-fold."""
    case = trouble_case("BUD-03")["input"]
    most, each = round(case["limit_usd"] * 1_000_000), round(case["each_cost"] * 1_000_000)
    price, usage = Price(0, each * 1_000), Usage(1_000, 1_000)  # a request costs `each` at the most, and does
    models = [
        ScriptedModel(["done"], name=f"m{number}", price=price, usage=usage)
        for number in range(case["parallel_children"])
    ]
    first = ScriptedModel(["done"], name="first", price=Price(0, round(case["spent"] * 1_000_000_000)), usage=usage)
    limits = [Limit(ScopeKind.TENANT, Unit.COST_MICROS, most)]
    async with opened(gate_path, [first, *models], Shelf().tools, limits=limits) as gate:
        await (await start(gate, model="first")).result()
        runs = [await start(gate, model=model.name) for model in models]
        reports = await asyncio.gather(*[run.result() for run in runs])
    assert [report.reason for report in reports] == ["budget"] * len(models)  # a tenth is left, and none costs less
    assert sum(len(model.requests) for model in models) == 0


@pytest.mark.requirement("BUD-3")
@pytest.mark.parametrize("reported", [True, False])
async def test_usage_in_any_chunk_counts_and_none_is_the_most(reported: bool, trouble_case: TroubleCase) -> None:
    """BUD-05: usage that came beside a choice was dropped, and a stream without any was free."""
    usage = trouble_case("BUD-05")["input"]["stream"][1]
    words = {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}
    chunks = [words, {**usage, "choices": [{"index": 0, "delta": {}}]}] if reported else [words]
    raw = b"".join(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks) + b"data: [DONE]\n\n"
    model = ScriptedModel([Reply(openai_chat.read_stream([raw]), streamed=True)], price=Price(1_000_000, 1_000_000))
    async with opened(":memory:", model, Shelf().tools) as gate:
        run = await start(gate)
        report = await run.result()
        seen = await happened(run, "responded")
    assert seen.data["reported"] is reported
    assert report.spent.cost_micros == 12_003 if reported else report.spent.cost_micros > 1_000


@pytest.mark.requirement("OBS-4")
async def test_a_result_of_megabytes_does_not_fill_the_history(trouble_case: TroubleCase, gate_path: str) -> None:
    """OBS-01: one `cat build.log` made 4.37 million tokens, and the turn was lost for good."""
    case = trouble_case("OBS-01")["input"]

    @tool(effect="read", name="cat", output_bytes_max=case["limit"])
    async def cat() -> str:
        """Print the build's log."""
        return "x" * int(case["tool_result_bytes"])

    report, model = await ended(gate_path, [("cat", {}), "done"], [cat])
    assert report.state is State.COMPLETE
    assert len(json.dumps(model.requests[1])) < 2 * case["limit"]
    text = told(model.requests[1])[1]
    assert "Shortened: the whole result has" in text
    assert "Handle: " in text


@pytest.mark.requirement("OBS-2")
async def test_a_result_that_is_no_json_is_told_as_executed_and_hangs_nothing(trouble_case: TroubleCase) -> None:
    """OBS-03: the result could not be dumped, the answer was never sent, and the turn hung."""
    assert "cycle" in trouble_case("OBS-03")["input"]["result"]
    ran: list[int] = []

    @tool(effect="write", owner="eng", name="make", key=["number"], output_schema={})
    async def make(number: int) -> Any:
        """Make something that has itself inside."""
        ran.append(number)
        made: dict[str, object] = {"b": b"\xff", "s": {1, 2}}
        made["self"] = made
        return made

    report, model = await ended(":memory:", [("make", {"number": 1}), "done"], [make])
    assert (report.state, ran) == (State.COMPLETE, [1])
    assert told(model.requests[1])[1].split("\n")[0] in ("make: ok", "make: failed", "make: partial", "make: unknown")
    assert "nothing was done" not in told(model.requests[1])[1].lower()


def page(text: str) -> AnyTool:
    @tool(effect="read", labels=WEB, name="page")
    async def fetch() -> str:
        """Fetch a page that anyone could have written."""
        return text

    return fetch


@pytest.mark.requirement("OBS-6", "POL-6")
@pytest.mark.parametrize("name", ["INJ-01", "INJ-02"])
async def test_a_model_that_obeys_what_it_read_waits_for_a_person_all_the_same(
    name: str, trouble_case: TroubleCase
) -> None:
    found = trouble_case(name)["input"]["tool_result"]
    shelf = Shelf()
    for text in [found] if isinstance(found, str) else found:
        model = ScriptedModel([("page", {}), ("save", {"note": "n", "text": "owned"})])
        async with opened(":memory:", model, [*shelf.tools, page(text)], ASKS_AFTER_THE_WEB) as gate:
            run = await start(gate)
            waits = await happened(run, "observed", after=(await happened(run, "observed")).cursor)
            assert (waits.data["tool"], waits.data["status"]) == ("save", "waiting")
            sent = told(model.requests[1])[1]
            await run.cancel()
        assert sent.count("</untrusted") == 1
        assert not [each for each in sent if 0xE0000 <= ord(each) <= 0xE007F]
    assert shelf.saved == []
