"""Models that are asked over the port of the loop, against a real server and a real model on this machine."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from model_server import RunningModel, running_model

from interlock.models.codec import Answer, Choice
from interlock.models.names import spell
from interlock.models.turn import Ended
from interlock.providers import AnthropicMessages, OpenAIChat, OpenAIResponses, Patience, model_of
from interlock.providers.hosted import Hosted

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.requirement("LOOP-2"), pytest.mark.timeout(300)]

BOUNDED = {"type": "integer", "minimum": 0, "maximum": 99}
SCHEMA = {"type": "object", "properties": {"a": BOUNDED, "b": BOUNDED}, "required": ["a", "b"]}
PATIENCE = Patience(first_byte_s=120.0, between_bytes_s=60.0, total_s=180.0)
MAKERS: dict[str, Callable[[str], Hosted]] = {
    "chat": lambda at: OpenAIChat("small", base_url=at),
    "responses": lambda at: OpenAIResponses("small", base_url=at),
    "messages": lambda at: AnthropicMessages("small", base_url=at),
}


@pytest.fixture(scope="module")
def server(installed: None) -> Iterator[RunningModel]:
    with running_model() as running:
        yield running


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", MAKERS)
async def test_a_call_comes_and_its_result_is_taken(server: RunningModel, kind: str, stream: bool) -> None:
    made = MAKERS[kind](server.base_url)
    model = replace(made, stream=stream, tokens_max=60, temperature=0, patience=PATIENCE)
    tools = model.codec.declarations([("add", "Adds two numbers.", SCHEMA)], names=spell(["add"]))
    history: list[dict[str, object]] = [
        {"role": "system", "content": "You add numbers."},
        {"role": "user", "content": "Add 4 and 5 with add."},
    ]
    forced = model.codec.request(history, options=model.options, tools=tools, choice=Choice.REQUIRED)
    asked = await model.ask(forced)
    assert (asked.status, asked.streamed, asked.turn.ended) == (200, stream, Ended.CALLS_ALLOWED), asked.turn
    assert [call.name for call in asked.turn.runnable] == ["add"]
    history += model.codec.echo(asked.turn)
    history += model.codec.results([Answer(call, "9") for call in asked.turn.calls])
    history += [{"role": "user", "content": "What is the sum?"}]
    told = await model.ask(model.codec.request(history, options=model.options, tools=tools))
    await model.close()
    assert told.turn.ended in {Ended.ANSWER, Ended.CALLS_ALLOWED, Ended.TRUNCATED}, told.turn
    assert told.turn.usage.output_tokens


async def test_what_the_server_refuses_is_told_and_not_sent_again(server: RunningModel) -> None:
    model = model_of(f"openai-chat:small@{server.base_url}", {})
    reply = await model.ask({"model": "small", "messages": "no list", "stream": True})
    await model.close()
    assert reply.turn.ended is Ended.HTTP_ERROR
    assert reply.turn.reason.startswith(f"HTTP {reply.status}: ")
    assert reply.may_repeat == (reply.status == 500), reply.turn.reason


async def test_the_server_goes_on_after_an_ask_that_was_cancelled(server: RunningModel) -> None:
    model = replace(MAKERS["chat"](server.base_url), tokens_max=40, patience=PATIENCE)
    words = [{"role": "user", "content": "Say hello to Ann."}]
    body = model.codec.request(words, options=model.options)
    task = asyncio.create_task(model.ask(body))
    await asyncio.wait([task], timeout=0.3)
    task.cancel()
    await asyncio.wait([task])
    assert (await model.ask(body)).turn.ended in {Ended.ANSWER, Ended.TRUNCATED}
    await model.close()
