"""Of a turn that was cut off, refused or spoilt nothing runs, in any dialect; providers' own work is never run."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from interlock import tool
from interlock.loop.codecs import CODECS
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Reply
from interlock.models.dialects import Dialect
from interlock.testing.models import Said, ScriptedModel
from tests.gates import AnyTool, Shelf
from tests.runs import ended, events, opened, start, told

ARGUMENTS = {"query": "a"}


def adding(ran: list[str]) -> AnyTool:
    @tool(effect="read", owner="eng")
    async def search(query: str) -> str:
        """Search."""
        ran.append(query)
        return query

    return search


def chat(stop: str, *, name: str = "search") -> bytes:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(ARGUMENTS)}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": stop}]}).encode()


def responses(stop: str) -> bytes:
    item = {"type": "function_call", "id": "f", "call_id": "c", "name": "search", "arguments": json.dumps(ARGUMENTS)}
    said = {"status": stop, "incomplete_details": {"reason": "max_output_tokens"} if stop == "incomplete" else None}
    return json.dumps({"id": "r", "object": "response", "output": [{**item, "status": "completed"}], **said}).encode()


def anthropic(stop: str) -> bytes:
    call = {"type": "tool_use", "id": "c", "name": "search", "input": ARGUMENTS}
    return json.dumps(
        {"id": "m", "type": "message", "role": "assistant", "content": [call], "stop_reason": stop}
    ).encode()


def gemini(stop: str) -> bytes:
    parts = [{"functionCall": {"name": "search", "args": ARGUMENTS}}]
    content = {"role": "model", "parts": parts}
    return json.dumps({"candidates": [{"content": content, "index": 0, "finishReason": stop}]}).encode()


def bedrock(stop: str) -> bytes:
    content = [{"toolUse": {"toolUseId": "c", "name": "search", "input": ARGUMENTS}}]
    return json.dumps({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop}).encode()


@dataclass
class Spoken:
    """How one dialect spells a call, and the words by which its turns end well, cut off and refused."""

    body: Callable[[str], bytes]
    whole: str
    cut: str
    refused: str


DIALECTS = {
    Dialect.OPENAI_CHAT: Spoken(chat, "tool_calls", "length", "content_filter"),
    Dialect.OPENAI_RESPONSES: Spoken(responses, "completed", "incomplete", "failed"),
    Dialect.ANTHROPIC: Spoken(anthropic, "tool_use", "max_tokens", "refusal"),
    Dialect.GEMINI: Spoken(gemini, "STOP", "MAX_TOKENS", "SAFETY"),
    Dialect.BEDROCK: Spoken(bedrock, "tool_use", "max_tokens", "guardrail_intervened"),
}


class Speaking(ScriptedModel):
    """A scripted model of another dialect: its bodies are read by that codec, and all that it is asked is kept."""

    def __init__(self, dialect: Dialect, bodies: list[bytes]) -> None:
        codec = CODECS[dialect]
        super().__init__([Reply(codec.read_response(body)) for body in bodies])
        self.dialect, self.codec = dialect, codec


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("end", ["cut", "refused"])
async def test_only_what_was_whole_runs_and_a_turn_that_was_cut_is_asked_for_again(dialect: Dialect, end: str) -> None:
    ran: list[str] = []
    spoken = DIALECTS[dialect]
    bodies = [spoken.body(getattr(spoken, end)), spoken.body(spoken.whole), spoken.body(spoken.refused)]
    model = Speaking(dialect, bodies)
    async with opened(":memory:", model, [adding(ran)]) as gate:
        run = await start(gate)
        report = await run.result()
        responded = [(event.data["ended"], event.state) for event in await events(run, "responded")]
    if end == "cut":
        assert responded[0] == ("truncated", State.MODEL_REQUEST)
        assert "could not be used" in json.dumps(model.requests[1])
        assert ran == ["a"]  # of the second turn, which was whole
    else:
        assert (ran, len(responded)) == ([], 1)
        assert report.state in (State.STOPPED, State.FAILED)
        assert report.reason in ("refused", "model")


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_body_that_is_spoilt_runs_nothing(dialect: Dialect) -> None:
    ran: list[str] = []
    body = DIALECTS[dialect].body(DIALECTS[dialect].whole)
    model = Speaking(dialect, [body[:-3]])
    async with opened(":memory:", model, [adding(ran)]) as gate:
        report = await (await start(gate)).result()
    assert (ran, report.spent.calls, report.state) == ([], 0, State.FAILED)


@pytest.mark.requirement("LOOP-3")
async def test_turns_that_come_to_nothing_end_the_run_after_so_many() -> None:
    ran: list[str] = []
    report, model = await ended(":memory:", [chat("length")] * 4, [adding(ran)])
    assert (report.state, report.reason, ran) == (State.ABORTED, "idle", [])
    assert told(model.requests[-1])[1:] == [told(model.requests[-1])[1]] * 3


@pytest.mark.requirement("LOOP-3")
async def test_of_a_turn_with_broken_arguments_the_whole_calls_run_and_the_broken_one_is_answered(
    gate_path: str,
) -> None:
    ran: list[str] = []
    calls: Said = [("search", {"query": "a"}), ("search", '{"query": "b'), ("search", {"query": "c"})]
    script = [calls, "done"]
    report, model = await ended(gate_path, script, [adding(ran)])
    assert (report.state, sorted(ran)) == (State.COMPLETE, ["a", "c"])
    texts = told(model.requests[1])
    assert "INVALID_JSON" in texts[2]
    assert [text.split("\n")[0] for text in texts[1:]] == ["search: ok", "search: refused", "search: ok"]


@pytest.mark.requirement("LOOP-4")
async def test_what_the_provider_did_itself_is_told_and_never_run(gate_path: str) -> None:
    ran: list[str] = []
    done = {"type": "server_tool_use", "id": "s", "name": "search", "input": ARGUMENTS}
    text = {"type": "text", "text": "found"}
    body = {"id": "m", "type": "message", "role": "assistant", "content": [done, text], "stop_reason": "end_turn"}
    model = Speaking(Dialect.ANTHROPIC, [json.dumps(body).encode()])
    async with opened(gate_path, model, [adding(ran)]) as gate:
        run = await start(gate)
        assert (await run.result()).answer == "found"
        (event,) = await events(run, "responded")
    assert (event.data["provider_calls"], event.data["calls"]) == ([{"name": "search", "kind": "server_tool_use"}], [])
    assert ran == []


def hosted(name: str) -> Speaking:
    """A model that asks for leave for a call of a hosted server's tool, then answers."""
    item = {"type": "mcp_approval_request", "id": "q", "server_label": "other", "name": name}
    asked = {**item, "arguments": json.dumps(ARGUMENTS)}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    bodies = [json.dumps({"id": "r", "status": "completed", "output": [each]}).encode() for each in (asked, answer)]
    return Speaking(Dialect.OPENAI_RESPONSES, bodies)


def answered(model: Speaking) -> dict[str, object]:
    sent = model.requests[1]["input"]
    assert isinstance(sent, list)
    return next(each for each in sent if each.get("type") == "mcp_approval_response")


@pytest.mark.requirement("LOOP-4")
async def test_a_call_for_a_hosted_servers_tool_never_runs_ours_of_that_name() -> None:
    ran: list[str] = []
    model = hosted("search")
    async with opened(":memory:", model, [adding(ran)]) as gate:
        report = await (await start(gate)).result()
    assert (report.state, ran, answered(model)["approve"]) == (State.COMPLETE, [], False)
    assert "TOOL_NOT_FOUND" in str(answered(model)["reason"])


@pytest.mark.requirement("LOOP-4")
@pytest.mark.parametrize("allowed", [True, False])
async def test_what_a_hosted_server_asks_is_a_proposal_like_any_other(allowed: bool, gate_path: str) -> None:
    @tool(effect="write", owner="eng", name="mcp:other/search")
    async def leave(query: str) -> str:
        """Have the server search."""
        return query

    ran: list[str] = []
    words = "a" if allowed else "b"
    policy = f"""permit (principal, action, resource) when {{ context.args.query == "{words}" }};"""
    model = hosted("search")
    async with opened(gate_path, model, [leave, adding(ran)], policy) as gate:
        run = await start(gate)
        await run.result()
        (seen,) = await events(run, "observed")
    assert (seen.data["tool"], seen.data["status"]) == ("mcp:other/search", "ok" if allowed else "refused")
    assert (ran, answered(model)["approve"]) == ([], allowed)
    assert [each["name"] for each in model.requests[0]["tools"]] == ["search"]  # type: ignore[attr-defined]


async def test_what_a_model_is_told_beside_its_results_are_whole_sentences() -> None:
    cut = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "I"}, "finish_reason": "length"}]}'
    _, model = await ended(":memory:", [cut, cut, "done"], Shelf().tools, limits=RunLimits(rounds=3))
    unusable = "it was cut off before it was whole, and nothing of it was run"
    last = "This is your last turn: no tools can be called any more (no further turn)"
    assert told(model.requests[2])[1:] == [
        *[f"Your last answer could not be used: {unusable}. Answer again."] * 2,
        f"{last}. Answer now with what you have, and say what is not done.",
    ]
