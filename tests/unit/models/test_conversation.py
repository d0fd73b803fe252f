"""A conversation is a list of messages of which it is remembered how far it was looked at."""

from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.models import anthropic, bedrock, gemini, openai_chat, openai_responses
from interlock.models.codec import Answer, Options
from interlock.models.conversation import Conversation
from interlock.models.turn import Turn

CODECS = (openai_chat, openai_responses, anthropic, gemini, bedrock)
OPTIONS = Options(model="m", tokens_max=9)
BODIES = {
    openai_chat: b'{"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", '
    b'"content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": '
    b'"{}"}}]}}]}',
    openai_responses: b'{"id": "r", "status": "completed", "output": [{"type": "function_call", "id": "f", "call_id": '
    b'"a", "name": "look", "arguments": "{}", "status": "completed"}]}',
    anthropic: b'{"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [{"type": "text", '
    b'"text": "I look."}, {"type": "tool_use", "id": "a", "name": "look", "input": {}}]}',
    gemini: b'{"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [{"functionCall": '
    b'{"name": "look", "args": {}}}]}}]}',
    bedrock: b'{"stopReason": "tool_use", "output": {"message": {"role": "assistant", "content": [{"toolUse": '
    b'{"toolUseId": "a", "name": "look", "input": {}}}]}}}',
}
SAID: list[dict[str, object]] = [{"role": "user", "content": "Hello."}]
SYSTEM: list[dict[str, object]] = [{"role": "system", "content": "Be brief."}]
STEPS = st.lists(st.sampled_from(["said", "system", "turn", "turn and results", "results"]), max_size=9)


def turn_of(codec: ModuleType) -> Turn:
    turn: Turn = codec.read_response(BODIES[codec])
    assert turn.runnable, turn.reason
    return turn


def test_a_conversation_that_begins_was_not_looked_at() -> None:
    said = Conversation(SAID)
    assert (said, said.looked) == (SAID, 0)


@pytest.mark.requirement("LOOP-2")
@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=60)
@given(STEPS)
def test_a_conversation_that_grows_is_sent_at_every_step_as_the_same_list_is(
    codec: ModuleType, steps: list[str]
) -> None:
    turn, said = turn_of(codec), Conversation()
    results = codec.results([Answer(turn.calls[0], "done")])
    added = {
        "said": SAID,
        "system": SYSTEM,
        "turn": codec.echo(turn),
        "turn and results": [*codec.echo(turn), *results],
        "results": results,
    }
    for step in steps:
        said += added[step]
        before = [*said]
        assert codec.request(said, options=OPTIONS) == codec.request(before, options=OPTIONS)
        assert said == before


@pytest.mark.parametrize("codec", CODECS)
def test_what_was_whole_when_it_was_sent_is_not_looked_at_again(codec: ModuleType) -> None:
    turn, said = turn_of(codec), Conversation(SAID)
    said += [*codec.echo(turn), *codec.results([Answer(turn.calls[0], "done")])]
    codec.request(said, options=OPTIONS)
    assert said.looked == len(said)
    said += codec.echo(turn)
    codec.request(said, options=OPTIONS)
    assert said.looked == len(said) - len(codec.echo(turn))
