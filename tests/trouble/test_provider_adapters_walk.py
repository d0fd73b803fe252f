"""What providers' schemas cannot say and what models make up, from the wire to a whole gate and back."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock import Caller, Limit, ScopeKind, ToolCall, Unit, tool
from interlock.models import openai_chat
from interlock.models.catalogue_names import catalogue_name
from interlock.models.codec import Answer
from interlock.models.dialects import Dialect
from tests.gates import ALICE, AnyTool, code, opened, records, used

TroubleCase = Callable[[str], Mapping[str, Any]]

pytestmark = pytest.mark.trouble

OURS = '@id("ours") permit (principal, action in Action::"read", resource) when { context.tool.owner == "eng" };'
EFFECTS_ASK = '@id("asks") @approval("approver") permit (principal, action in Action::"effect", resource);'


@pytest.mark.requirement("TOOL-7", "CALL-5")
@pytest.mark.parametrize("dialect", Dialect)
async def test_alternatives_at_a_root_are_not_sent_and_hold_nevertheless(
    trouble_case: TroubleCase, dialect: Dialect
) -> None:
    """ADP-04: a provider refused every request for one tool whose arguments were 'at least one of these'."""
    got: list[tuple[str, str]] = []

    @tool(effect="read", name="find", input_schema=trouble_case("ADP-04")["input"]["schema"])
    async def find(route: str = "", file: str = "") -> str:
        """Find a thing by its route, its file, or both."""
        got.append((route, file))
        return "found"

    async with opened(":memory:", [find]) as gate:
        declared = gate.catalogue.declarations(Caller(ALICE), dialect=dialect)
        sent = declared.projections["find"]
        assert sent.schema.keys().isdisjoint({"anyOf", "oneOf", "allOf"})
        assert "/anyOf" in {loss.pointer for loss in sent.losses}
        each: list[dict[str, Any]] = [{}, {"route": "r"}, {"file": "f"}]
        for arguments in each:
            back = sent.back(sent.there(arguments))
            seen = await gate.call(ToolCall("c", "find", json.dumps(back)), principal=ALICE)
            assert code(seen) == ("ok" if arguments else "TOOL_ARGUMENT_INVALID")
            assert arguments or "at least one of these: route; file" in gate.for_model(seen)
    assert got == [("r", ""), ("", "f")]


@pytest.mark.requirement("CALL-4", "CALL-8")
@pytest.mark.parametrize("number", [0, 1])
async def test_a_name_that_a_model_made_up_is_an_answer_and_the_run_goes_on(
    trouble_case: TroubleCase, number: int, gate_path: str
) -> None:
    """ADP-06: a misspelt name ended the session, at one library only where approvals were configured."""
    case = trouble_case("ADP-06")["input"]
    policy = [OURS, OURS + EFFECTS_ASK][case["with_approval_config"][number]]
    ran: list[str] = []
    listed, hidden = _counting(case["tools"][0], ran), _counting("list-record", ran, owner="others")
    asked = {"id": "c1", "type": "function", "function": case["call"]}
    body = {"choices": [{"message": {"tool_calls": [asked]}, "finish_reason": "tool_calls"}]}
    (call,) = openai_chat.read_response(json.dumps(body).encode()).runnable
    async with opened(gate_path, [listed, hidden], policy, limits=[Limit(ScopeKind.RUN, Unit.CALLS, 2)]) as gate:
        names = gate.catalogue.declarations(Caller(ALICE), dialect="openai-chat").names
        proposal = ToolCall(call.reply_id, catalogue_name(call, names), call.arguments_raw)
        seen = await gate.call(proposal, principal=ALICE, run="r")
        (told,) = openai_chat.results([Answer(call, gate.for_model(seen), failed=True)])
        assert (code(seen), told["tool_call_id"]) == ("TOOL_NOT_FOUND", "c1")
        assert "list-records" in str(told["content"])
        assert not re.search("list-record(?!s)", str(told["content"]))
        assert [each["event"] for each in await records(gate) if each["event"].startswith("call.")] == ["call.refused"]
        assert await used(gate, "calls") == 1
        again = await gate.call(ToolCall("c2", "list-records", "{}"), principal=ALICE, run="r")
        assert (code(again), ran) == ("ok", ["list-records"])


def _counting(name: str, ran: list[str], *, owner: str = "eng") -> AnyTool:
    @tool(effect="read", name=name, owner=owner)
    async def listing() -> str:
        """List the records."""
        ran.append(name)
        return "none"

    return listing
