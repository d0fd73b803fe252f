"""Every call of a Gemini history is answered in the next entry, once, and nothing else is changed."""

from typing import Any

import pytest

from interlock.models.gemini_pairing import paired
from interlock.models.pairing import INTERRUPTED

pytestmark = pytest.mark.requirement("LOOP-2")

Part = dict[str, Any]


def call(name: str, **more: Any) -> Part:
    return {"functionCall": {"name": name, "args": {}, **more}}


def answer(name: str, said: str = "done", **more: Any) -> Part:
    return {"functionResponse": {**more, "name": name, "response": {"output": said}}}


def lost(name: str, **more: Any) -> Part:
    return {"functionResponse": {**more, "name": name, "response": {"error": INTERRUPTED}}}


def entries(*turns: list[Part]) -> list[dict[str, Any]]:
    """A model's turn, a user's, and so on."""
    return [{"role": "user" if number % 2 else "model", "parts": parts} for number, parts in enumerate(turns)]


TEXT = {"text": "And now?"}


@pytest.mark.parametrize(
    "turns",
    [
        [[call("a"), call("b")], [answer("a"), answer("b")]],
        [[call("a", id="1"), call("a", id="2")], [answer("a", id="2"), answer("a", id="1"), TEXT]],
        [[call("a"), call("a")], [answer("a", "1"), answer("a", "2")], [TEXT]],
        [[TEXT, {"toolCall": {"id": "x"}}, {"toolResponse": {"id": "x"}}], [TEXT]],
        [[call("a")], [answer("a", id="made-up")]],
    ],
)
def test_what_is_right_stays_as_it_is(turns: list[list[Part]]) -> None:
    assert paired(entries(*turns))[0] == entries(*turns)


@pytest.mark.parametrize(
    ("turns", "repaired"),
    [
        ([[call("a"), call("b")]], [[call("a"), call("b")], [lost("a"), lost("b")]]),
        ([[call("a"), call("b")], [answer("b")]], [[call("a"), call("b")], [lost("a"), answer("b")]]),
        ([[call("a"), call("a")], [answer("a")]], [[call("a"), call("a")], [answer("a"), lost("a")]]),
        (
            [[call("a", id="1"), call("a", id="2")], [TEXT, answer("a", id="2")]],
            [[call("a", id="1"), call("a", id="2")], [lost("a", id="1"), answer("a", id="2"), TEXT]],
        ),
        ([[call("a")], [TEXT]], [[call("a")], [lost("a"), TEXT]]),
        ([[TEXT], [answer("a"), TEXT]], [[TEXT], [TEXT]]),
        ([[call("a")], [answer("a"), answer("a")]], [[call("a")], [answer("a")]]),
    ],
)
def test_what_was_interrupted_is_answered_as_not_known(turns: list[list[Part]], repaired: list[list[Part]]) -> None:
    assert paired(entries(*turns))[0] == entries(*repaired)


def test_a_turn_that_follows_another_is_not_mixed_up_with_it() -> None:
    history = [{"role": "model", "parts": [call("a")]}, {"role": "model", "parts": [call("b")]}]
    assert [entry["role"] for entry in paired(history)[0]] == ["model", "user", "model", "user"]
    assert paired([{"role": "user", "parts": [answer("a")]}]) == ([], True)
