"""Models of all five providers against a scripted server: a call, its result, an answer, and faults in between."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from interlock.loop.model import Reply
from interlock.models.codec import Answer, Choice
from interlock.models.names import spell
from interlock.models.turn import Ended
from interlock.providers import AnthropicMessages, Bedrock, Gemini, OpenAIChat, OpenAIResponses, Patience
from interlock.providers.hosted import Hosted
from tests.aimock import journal, scripted

pytestmark = [pytest.mark.requirement("LOOP-2"), pytest.mark.timeout(60)]

SCHEMA = {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}
SPEC = ("read_order", "Reads an order.", SCHEMA)
CALL = {"toolCalls": [{"name": "read_order", "arguments": {"order": 7}}]}
BROKEN = {"toolCalls": [{"name": "read_order", "arguments": '{"order": '}]}
LONG = {"content": "This answer is cut in its middle. " * 20}
# Gemini says STOP where a turn ends in calls; aimock would say a word that Gemini does not have.
STOP = {"finishReason": "STOP"}
FIXTURES: list[dict[str, Any]] = [
    {"match": {"model": "gemini-x", "userMessage": "order 7", "hasToolResult": False}, "response": CALL | STOP},
    {"match": {"model": "gemini-x", "userMessage": "broken"}, "response": BROKEN | STOP},
    {"match": {"userMessage": "order 7", "hasToolResult": False}, "response": CALL},
    {"match": {"userMessage": "order 7", "hasToolResult": True}, "response": {"content": "It was sent."}},
    {"match": {"userMessage": "thanks"}, "response": {"content": "You are welcome."}},
    {"match": {"userMessage": "broken"}, "response": BROKEN},
    {
        "match": {"userMessage": "too fast"},
        "response": {"error": {"message": "Slow down.", "type": "rate_limit_error"}, "status": 429, "retryAfter": 7},
    },
    {
        "match": {"userMessage": "ill"},
        "response": {"error": {"message": "Ill.", "type": "server_error"}, "status": 500},
    },
    {"match": {"userMessage": "wrong"}, "response": {"error": {"message": "Wrong.", "type": "x"}, "status": 400}},
    {"match": {"userMessage": "cut"}, "response": LONG, "truncateAfterChunks": 4},
    {"match": {"userMessage": "stall"}, "response": LONG, "latency": 5_000},
]
PATIENCE = Patience(connect_s=5.0, first_byte_s=20.0, between_bytes_s=2.0, total_s=30.0)
MAKERS: dict[str, Callable[[str], Hosted]] = {
    "chat": lambda at: OpenAIChat("gpt-x", base_url=f"{at}/v1", api_key="k"),
    "responses": lambda at: OpenAIResponses("gpt-x", base_url=f"{at}/v1", api_key="k"),
    "anthropic": lambda at: AnthropicMessages("claude-x", base_url=at, api_key="k"),
    "gemini": lambda at: Gemini("gemini-x", base_url=f"{at}/v1beta", api_key="k"),
    "bedrock": lambda at: Bedrock("anthropic.claude-x-v1:0", base_url=at, api_key="k"),
}


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with scripted(FIXTURES, folder=tmp_path_factory.mktemp("aimock")) as at:
        yield at


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    asked: bool = request.param
    return asked


@pytest.fixture(params=MAKERS)
def model(request: pytest.FixtureRequest, origin: str, stream: bool) -> Hosted:
    return told(MAKERS[request.param](origin), stream=stream)


def told(model: Hosted, *, stream: bool, patience: Patience = PATIENCE, chaos: str = "") -> Hosted:
    """The same model, asked so. `chaos` is what goes wrong with each request, as aimock calls it."""
    headers = {f"x-aimock-chaos-{chaos}": "1"} if chaos else {}
    return replace(model, stream=stream, patience=patience, headers=headers)


async def ask(model: Hosted, history: list[dict[str, object]]) -> Reply:
    tools = model.codec.declarations([SPEC], names=spell(["read_order"]))
    body = model.codec.request(history, options=model.options, tools=tools, choice=Choice.AUTO)
    async with asyncio.timeout(30):
        reply = await model.ask(body)
    await model.close()
    return reply


def user(words: str) -> dict[str, object]:
    return {"role": "user", "content": words}


async def test_a_call_comes_its_result_goes_back_and_the_answer_is_taken(
    model: Hosted, origin: str, stream: bool
) -> None:
    history = [{"role": "system", "content": "Be brief."}, user("Where is order 7?")]
    asked = await ask(model, history)
    assert (asked.turn.ended, asked.status, asked.streamed) == (Ended.CALLS_ALLOWED, 200, stream), asked.turn
    [call] = asked.turn.runnable
    assert (call.name, call.arguments_raw.replace(" ", "")) == ("read_order", '{"order":7}')
    history += model.codec.echo(asked.turn) + model.codec.results([Answer(call, "sent on Monday")])
    answered = await ask(model, history)
    assert (answered.turn.ended, answered.turn.text) == (Ended.ANSWER, "It was sent.")
    sent = str(journal(origin)[-1]["body"])
    assert "sent on Monday" in sent
    assert "Be brief." in sent
    history += [*model.codec.echo(answered.turn), user("Good."), user("Many thanks.")]
    assert (await ask(model, history)).turn.text == "You are welcome."


async def test_broken_arguments_reach_the_gate_as_they_are_and_can_be_answered(model: Hosted) -> None:
    reply = await ask(model, [user("broken")])
    [call] = reply.turn.runnable
    # The others hold objects on the wire, so that aimock itself has nothing but an empty one to send.
    assert call.arguments_raw == ('{"order": ' if model.PROVIDER.startswith("openai") else "{}")
    history = [user("thanks"), *model.codec.echo(reply.turn)]
    history += model.codec.results([Answer(call, "The arguments are no JSON.", failed=True)])
    answered = await ask(model, history)
    assert (answered.status, answered.turn.ended) == (200, Ended.ANSWER)


async def test_too_many_requests_are_told_with_the_time_to_wait(model: Hosted) -> None:
    reply = await ask(model, [user("too fast")])
    assert (reply.status, reply.turn.ended) == (429, Ended.HTTP_ERROR)
    assert (reply.may_repeat, reply.retry_after_s) == (True, 7.0)
    assert "Slow down." in reply.turn.reason


async def test_a_server_that_is_ill_may_be_asked_again(model: Hosted) -> None:
    reply = await ask(model, [user("ill")])
    assert (reply.status, reply.turn.ended, reply.may_repeat) == (500, Ended.HTTP_ERROR, True)


async def test_a_request_that_is_wrong_is_not_sent_again(model: Hosted) -> None:
    reply = await ask(model, [user("wrong")])
    assert (reply.status, reply.turn.ended, reply.may_repeat) == (400, Ended.HTTP_ERROR, False)


@pytest.mark.parametrize("kind", MAKERS)
async def test_a_stream_that_is_cut_runs_nothing(kind: str, origin: str) -> None:
    reply = await ask(told(MAKERS[kind](origin), stream=True), [user("cut")])
    assert (reply.turn.ended, reply.turn.runnable, reply.may_repeat) == (Ended.DROPPED, (), True)


@pytest.mark.parametrize("kind", MAKERS)
async def test_a_stream_that_stalls_is_not_waited_for(kind: str, origin: str) -> None:
    brief = Patience(first_byte_s=0.5, between_bytes_s=0.5)
    reply = await ask(told(MAKERS[kind](origin), stream=True, patience=brief), [user("stall")])
    assert (reply.turn.ended, reply.turn.runnable, reply.may_repeat) == (Ended.DROPPED, (), True)


@pytest.mark.parametrize("kind", MAKERS)
async def test_a_connection_that_ends_and_a_body_that_is_no_json_run_nothing(
    kind: str, origin: str, stream: bool
) -> None:
    gone = await ask(told(MAKERS[kind](origin), stream=stream, chaos="disconnect"), [user("order 7")])
    assert (gone.turn.ended, gone.turn.runnable, gone.may_repeat) == (Ended.DROPPED, (), True)
    garbled = await ask(told(MAKERS[kind](origin), stream=stream, chaos="malformed"), [user("order 7")])
    assert garbled.turn.runnable == ()
    assert garbled.turn.ended in {Ended.ERROR, Ended.DROPPED}, garbled.turn
