"""A stream that breaks off in the middle of a call runs nothing of it, in any dialect: the model is asked again."""

import json
from collections.abc import Callable

import pytest

from interlock import Host
from interlock.loop.codecs import CODECS
from interlock.loop.machine import State
from interlock.loop.model import Reply
from interlock.models.dialects import Dialect
from interlock.models.turn import Ended
from interlock.testing.fakes import FakeClock
from interlock.testing.models import ScriptedModel
from tests.gates import Shelf
from tests.runs import events, opened, start
from tests.unit.models import anthropic_responses as anthropic
from tests.unit.models import bedrock_responses as bedrock
from tests.unit.models import gemini_responses as gemini

WHOLE = json.dumps({"query": "x"})


def chat() -> bytes:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "search", "arguments": WHOLE}}
    return b"data: %b\n\n" % json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).encode()


def responses() -> bytes:
    item = {"type": "function_call", "id": "f", "call_id": "c", "name": "search", "arguments": WHOLE}
    kind = "response.output_item.done"
    event = {"type": kind, "output_index": 0, "item": {**item, "status": "completed"}}
    return f"event: {kind}\ndata: {json.dumps(event)}\n\n".encode()


def messages() -> bytes:
    parts = [anthropic.start(), anthropic.began(anthropic.tool_use(sent={})), anthropic.piece(WHOLE)]
    return b"".join([*parts, anthropic.stopped()])


def generate() -> bytes:
    return gemini.events_of(gemini.chunk_of({"functionCall": {"name": "search", "args": {"query": "x"}}}))


def converse() -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in bedrock.call(WHOLE))


STREAMS: dict[Dialect, Callable[[], bytes]] = {
    Dialect.OPENAI_CHAT: chat,
    Dialect.OPENAI_RESPONSES: responses,
    Dialect.ANTHROPIC: messages,
    Dialect.GEMINI: generate,
    Dialect.BEDROCK: converse,
}


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("dialect", STREAMS)
async def test_a_call_that_was_whole_in_a_turn_that_was_not_is_not_run(dialect: Dialect) -> None:
    shelf, turn = Shelf(), CODECS[dialect].read_stream([STREAMS[dialect]()])
    assert (turn.ended, turn.runnable) == (Ended.DROPPED, ())
    model = ScriptedModel([Reply(turn, streamed=True), "done"])
    async with opened(":memory:", model, shelf.tools, host=Host(clock=FakeClock())) as gate:
        run = await start(gate)
        report = await run.result()
        (faulted,) = await events(run, "faulted")
    assert (report.state, report.spent.calls, report.spent.rounds, shelf.searched) == (State.COMPLETE, 0, 1, [])
    assert faulted.state is State.MODEL_RETRY
    assert model.requests[1]["messages"] == model.requests[0]["messages"]
