"""A scripted model says what was written down, through the real codec, and remembers what it was asked."""

import time
from collections.abc import Mapping

import pytest

from interlock.loop.model import Model, Price, Reply
from interlock.models.codec import Answer
from interlock.models.turn import Ended, Turn, Usage
from interlock.testing.models import OPTIONS, Said, ScriptedModel

HELLO: list[Mapping[str, object]] = [{"role": "user", "content": "hello"}]
PIECES_PER_SECOND_MIN = 2_000


async def test_answers_and_calls_come_in_their_order_and_requests_are_kept() -> None:
    model = ScriptedModel([("read", {"id": 1}), [("read", {"id": 2}), ("write", "{broken")], "Done."])
    first = await model.ask({"turn": 1})
    assert [(call.name, call.arguments_raw) for call in first.turn.runnable] == [("read", '{"id": 1}')]
    second = await model.ask({"turn": 2})
    assert [(call.name, call.arguments_raw) for call in second.turn.runnable] == [
        ("read", '{"id": 2}'),
        ("write", "{broken"),
    ]
    assert {call.reply_id for call in first.turn.calls}.isdisjoint(call.reply_id for call in second.turn.calls)
    third = (await model.ask({"turn": 3})).turn
    assert (third.ended, third.text, third.usage) == (Ended.ANSWER, "Done.", Usage(20, 10))
    assert model.requests == ({"turn": 1}, {"turn": 2}, {"turn": 3})


async def test_a_reply_can_be_read_again_from_its_body() -> None:
    reply = await ScriptedModel(["Done."]).ask({})
    assert ScriptedModel([]).codec.read_response(reply.turn.raw) == reply.turn


async def test_a_list_of_one_call_and_the_call_alone_are_the_same() -> None:
    for said in (("read", {}), [("read", {})], (("read", {}),)):
        reply = await ScriptedModel([said]).ask({})
        assert [call.name for call in reply.turn.runnable] == ["read"]


async def test_bodies_and_whole_replies_are_given_as_they_are() -> None:
    fault = Reply(Turn("", (), Ended.HTTP_ERROR), status=503, retry_after_s=2.0, may_repeat=True)
    model = ScriptedModel([fault, b"no json"])
    assert await model.ask({}) is fault
    assert (await model.ask({})).turn.ended is Ended.ERROR


async def test_a_function_of_the_request_decides() -> None:
    def say(body: Mapping[str, object]) -> Said:
        messages = body["messages"]
        assert isinstance(messages, list)
        return "Done." if messages[-1]["role"] == "tool" else ("read", {})

    model: Model = ScriptedModel(say)
    asked = (await model.ask(model.codec.request(HELLO, options=model.options))).turn
    history = [*HELLO, *model.codec.echo(asked), *model.codec.results([Answer(asked.calls[0], "5")])]
    assert (await model.ask(model.codec.request(history, options=model.options))).turn.text == "Done."


async def test_a_script_that_is_over_says_so() -> None:
    with pytest.raises(AssertionError, match="has 0 turns"):
        await ScriptedModel([]).ask({})


async def test_it_is_named_priced_and_closed_like_any_model() -> None:
    model = ScriptedModel(["x"], name="cheap", price=Price(1, 2))
    assert (model.name, model.price, model.options) == ("cheap", Price(1, 2), OPTIONS)
    await model.close()
    assert model.closed


async def test_it_costs_little() -> None:
    model = ScriptedModel(["x"] * PIECES_PER_SECOND_MIN)
    began = time.perf_counter()
    for _ in range(PIECES_PER_SECOND_MIN):
        await model.ask({})
    assert time.perf_counter() - began < 1.0
