"""A history that is sent holds one result for each call, in the very next message."""

from typing import Any

import pytest

from interlock.models.anthropic import request
from interlock.models.codec import Options
from interlock.models.pairing import INTERRUPTED

CALL_A: dict[str, object] = {"type": "tool_use", "id": "A", "name": "search", "input": {}}
CALL_B: dict[str, object] = {"type": "tool_use", "id": "B", "name": "search", "input": {}}
TEXT: dict[str, object] = {"type": "text", "text": "And now?"}


def result(call_id: str, words: str = "done") -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": words}


def unknown(call_id: str) -> dict[str, object]:
    return result(call_id, INTERRUPTED) | {"is_error": True}


def sent(*messages: tuple[str, object]) -> list[tuple[str, object]]:
    history = [{"role": role, "content": content} for role, content in messages]
    body = request(history, options=Options(model="m", tokens_max=1))
    held: Any = body["messages"]
    return [(message["role"], message["content"]) for message in held]


def test_a_history_that_is_paired_is_sent_as_it_is() -> None:
    history = [("user", "hi"), ("assistant", [TEXT, CALL_A, CALL_B]), ("user", [result("A"), result("B"), TEXT])]
    assert sent(*history) == history


@pytest.mark.requirement("LOOP-2")
def test_a_call_that_was_interrupted_is_answered_as_failed() -> None:
    calls, answered = ("assistant", [TEXT, CALL_A, CALL_B]), ("user", [result("A"), unknown("B")])
    assert sent(calls, ("user", [result("A")]), ("assistant", "Done."))[:2] == [calls, answered]


@pytest.mark.parametrize("after", [[], [("assistant", "Done.")]])
def test_calls_that_nothing_follows_are_answered(after: list[tuple[str, object]]) -> None:
    assert sent(("assistant", [CALL_A]), *after) == [("assistant", [CALL_A]), ("user", [unknown("A")]), *after]


def test_results_come_before_anything_else_and_in_the_order_of_their_calls() -> None:
    mixed = sent(("assistant", [CALL_A, CALL_B]), ("user", [TEXT, result("B"), result("A")]))
    assert mixed == [("assistant", [CALL_A, CALL_B]), ("user", [result("A"), result("B"), TEXT])]
    assert sent(("assistant", [CALL_A]), ("user", [TEXT, result("A")]))[1] == ("user", [result("A"), TEXT])
    assert sent(("assistant", [CALL_A]), ("user", "And now?"))[1] == ("user", [unknown("A"), TEXT])


def test_a_result_that_answers_no_call_before_it_is_dropped() -> None:
    assert sent(("user", [result("A"), TEXT]), ("user", [result("B")])) == [("user", [TEXT])]
    twice = sent(("assistant", [CALL_A]), ("user", [result("A", "first"), result("A", "second")]))
    assert twice == [("assistant", [CALL_A]), ("user", [result("A", "first")])]
