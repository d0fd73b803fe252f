"""Neighbouring events that differ in a piece alone are read as one, and nothing else is."""

import json
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.models import anthropic, bedrock, gemini, openai_chat, openai_responses
from interlock.models.joining import AHEAD_MIN, PATTERNS_MAX, WAIT_MIN, Joining, Joint, Joints
from interlock.models.sse import EventCutter

JOINTS = Joints((Joint(("d", "t")), Joint(("p", 0, "x"), element=("p", 0))), unread=(("n",), ("u",)))
SPACES = (",", ":")
WHOLE = 10 * WAIT_MIN


def line(event: Any) -> str:
    return json.dumps(event, separators=SPACES) + "\n"


def learned(example: str) -> Joining:
    runs = Joining(JOINTS)
    for _ in range(WAIT_MIN):
        runs.saw(example * (AHEAD_MIN + 2), at=0, end=len(example))
    return runs


def joined(example: str, *others: str) -> str | None:
    found = learned(example).joined("".join(others), 0)
    return found and found[0]


def test_the_pieces_of_a_run_stand_in_its_last_event() -> None:
    events = [line({"n": n, "d": {"t": piece}}) for n, piece in enumerate(["a", 'b"', "\\", "ü", "", "\u20ac\n"])]
    found = learned(events[0]).joined("".join(events) + "x", 0)
    assert found is not None
    assert json.loads(found[0]) == {"n": 5, "d": {"t": 'ab"\\ü\u20ac\n'}}
    assert found[1] == sum(map(len, events))


def test_elements_of_a_list_are_strung_together_each_with_its_own_piece() -> None:
    events = [line({"p": [{"x": piece, "k": 1}], "u": {"total": n}}) for n, piece in enumerate(["a,", "", "]"])]
    assert json.loads(joined(events[0], *events) or "") == {
        "p": [{"x": "a,", "k": 1}, {"x": "", "k": 1}, {"x": "]", "k": 1}],
        "u": {"total": 2},
    }


A = line({"d": {"t": "a"}, "n": 1})


@pytest.mark.parametrize(
    "other",
    [
        line({"d": {"t": "a"}, "n": 1, "more": 1}),
        line({"d": {"t": "a"}, "n": None}),
        line({"d": {"t": "a"}, "n": -1}),
        line({"d": {"t": "a"}, "n": 1.5}),
        line({"d": {"t": "a"}, "n": 10**20}),
        line({"d": {"t": 5}, "n": 1}),
        line({"d": {"t": "\ud83d"}, "n": 1}),
        line({"d": {"t": "\U0001f600"}, "n": 1}),
        '{"d":{"t":"a\x01"},"n":1}\n',
        '{"d":{"t":"\\x"},"n":1}\n',
        '{"d":{"t":"a","t":"b"},"n":1}\n',
        '{"d":{"t":"a"},"n":01}\n',
        '{"d":{"t":"a"}, "n":1}\n',
        '{"d":{"t":"a"},"n":1}}\n',
        '{"d":{"t":"a\n"},"n":1}\n',
    ],
)
def test_what_is_not_equal_but_for_its_piece_is_no_run(other: str) -> None:
    assert joined(A, A, A) is not None
    assert joined(A, other, other) is None
    assert joined(A, A, other) is None
    assert learned(A).joined(A + A + other + A, 0) == (line({"d": {"t": "aa"}, "n": 1}), 2 * len(A))


@pytest.mark.parametrize(
    "example",
    [
        line({"n": 1}),
        line({"d": {"t": "a"}, "p": [{"x": "b"}]}),
        line({"p": [{"x": "a"}, {"x": "b"}]}),
        line({"d": {"t": None}}),
        "[1]}\n",
        "data: no JSON\n",
        '{"d":\n{"t":"a"}}\n',
        '{"p":[{"x":"a"\n',
        line({"d": {"t": "a" * 5_000}}),
    ],
)
def test_nothing_is_learned_from_what_holds_no_piece_or_several(example: str) -> None:
    assert joined(example, example, example) is None


def test_a_text_may_hold_what_an_event_begins_with() -> None:
    events = [line({"d": {"t": piece}}) for piece in ['{"d":{"t":"', '\n{"d":{"t":"', "x"]]
    assert json.loads(joined(events[2], *events) or "")["d"]["t"] == '{"d":{"t":"\n{"d":{"t":"x'


def test_an_event_may_hold_within_itself_what_it_begins_with() -> None:
    event = '{"u":{"u":"1"},"d":{"t":"a"}}\n'
    assert json.loads(joined(event, event, event) or "") == {"u": {"u": "1"}, "d": {"t": "aa"}}


def test_several_patterns_are_known_at_once_and_no_more_than_that() -> None:
    runs = Joining(JOINTS)
    kinds = [line({"k": kind, "d": {"t": "a"}}) for kind in range(PATTERNS_MAX + 1)]
    for kind in kinds:
        while runs.joined(kind * 2, 0) is None:
            runs.saw(kind * (AHEAD_MIN + 2), at=0, end=len(kind))
    assert [runs.joined(kind * 2, 0) is not None for kind in kinds] == [False] + [True] * PATTERNS_MAX


def test_names_of_events_are_part_of_what_must_be_equal() -> None:
    cutter = EventCutter(JOINTS)
    one, other = f"event: one\ndata: {A}\n", f"event: other\ndata: {A}\n"
    events = list(cutter.feed((one * WHOLE + other + one * 2).encode()))
    assert len(events) < WHOLE
    assert "".join(json.loads(event.data)["d"]["t"] for event in events) == "a" * (WHOLE + 3)
    assert [event.name for event in events][-2:] == ["other", "one"]


@pytest.mark.parametrize("began", ["event: other\n", "data: [\n"])
def test_an_event_that_began_before_is_none_of_a_run(began: str) -> None:
    cutter = EventCutter(JOINTS)
    unit = f"data: {A}\n"
    list(cutter.feed((unit * WHOLE + began).encode()))
    first, *rest = cutter.feed((unit * 3).encode())
    assert (first.name, first.data) == (("other", A.strip()) if "event" in began else ("", f"[\n{A.strip()}"))
    assert "".join(json.loads(event.data)["d"]["t"] for event in rest) == "aa"


PIECES = st.text(max_size=5) | st.sampled_from(
    ["", '"', "\\", "\ud83d", "\ude00", "\U0001f600", "{", "\n\ndata: ", "é"]
)


def anthropic_delta(piece: str, kind: int) -> Any:
    name, field = [("text_delta", "text"), ("input_json_delta", "partial_json"), ("thinking_delta", "thinking")][kind]
    return {"type": "content_block_delta", "index": kind, "delta": {"type": name, field: piece}}


def chat_delta(piece: str, kind: int) -> Any:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": piece}}
    delta = [{"content": piece}, {"tool_calls": [call]}, {"reasoning_content": piece}][kind]
    return {"id": "1", "created": len(piece), "choices": [{"index": 0, "delta": delta}], "usage": {"prompt_tokens": 2}}


def responses_delta(piece: str, kind: int) -> Any:
    name = ["output_text", "function_call_arguments", "refusal"][kind]
    return {"type": f"response.{name}.delta", "output_index": kind, "delta": piece, "sequence_number": len(piece)}


def gemini_delta(piece: str, kind: int) -> Any:
    pieces = [{"jsonPath": "$.a", "stringValue": piece, "willContinue": True}]
    part = [{"text": piece}, {"functionCall": {"partialArgs": pieces, "willContinue": True}}]
    part.append({"text": piece, "thought": True})
    return {"candidates": [{"content": {"parts": [part[kind]]}}], "usageMetadata": {"promptTokenCount": len(piece)}}


def bedrock_delta(piece: str, kind: int) -> Any:
    delta = [{"text": piece}, {"toolUse": {"input": piece}}, {"reasoningContent": {"text": piece}}][kind]
    return {"contentBlockDelta": {"contentBlockIndex": kind, "delta": delta, "p": "abc"[: len(piece)]}}


DIALECTS: Mapping[str, tuple[ModuleType, Callable[[str, int], Any], Sequence[Any]]] = {
    "anthropic": (
        anthropic,
        anthropic_delta,
        [
            {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "1", "name": "f"}},
            {"type": "content_block_start", "index": 2, "content_block": {"type": "thinking", "thinking": ""}},
        ],
    ),
    "chat": (openai_chat, chat_delta, []),
    "responses": (
        openai_responses,
        responses_delta,
        [
            {"type": "response.output_item.added", "output_index": kind, "item": item}
            for kind, item in enumerate(
                [{"type": "message"}, {"type": "function_call", "name": "f", "call_id": "c"}, {"type": "message"}]
            )
        ],
    ),
    "gemini": (
        gemini,
        gemini_delta,
        [{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "willContinue": True}}]}}]}],
    ),
    "bedrock": (
        bedrock,
        bedrock_delta,
        [{"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "1", "name": "f"}}}}],
    ),
}


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=60)
@given(
    runs=st.lists(st.tuples(st.integers(0, 2), st.lists(PIECES, min_size=1, max_size=40)), min_size=1, max_size=6),
    ascii_only=st.booleans(),
    start=st.sampled_from([0, 1, 2]),
)
def test_a_turn_is_the_same_whether_its_events_come_together_or_one_by_one(
    dialect: str, runs: list[tuple[int, list[str]]], ascii_only: bool, start: int
) -> None:
    model, delta, opening = DIALECTS[dialect]
    frame = "{}\n" if model is bedrock else "data: {}\n\n"
    known = [delta("ab", start)] * (WAIT_MIN + 10)
    events = [*opening, *known, *(delta(piece, kind) for kind, pieces in runs for piece in pieces)]
    sent = [frame.format(json.dumps(event, ensure_ascii=ascii_only)).encode("utf-8", "replace") for event in events]
    one_by_one, together = model.read_stream(sent), model.read_stream([b"".join(sent)])
    assert together == one_by_one
    assert together.raw == b"".join(sent)
