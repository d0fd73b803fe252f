"""A block is whole once it was closed, and goes back as if it had come in one piece."""

import pytest

from interlock.models.blocks import Block, BlockDraft, Dialect, Does, object_of, place, reply_ids, sendable_name, sums
from interlock.models.turn import Ended, Usage

DIALECT = Dialect(id_field="id", stops={"call": Ended.CALLS_ALLOWED, "cut": Ended.TRUNCATED}, calling="call")


def call(name: str = "search", *, closed: bool = True) -> Block:
    return Block("tool", Does.CALL, {"name": name, "id": "a", "input": {}}, closed=closed)


@pytest.mark.parametrize(
    ("began", "pieces", "raw", "sent"),
    [
        ({}, ['{"a"', ":1}"], '{"a":1}', {"a": 1}),
        (None, [], "", {}),
        ({}, [], "{}", {}),
        ({"a": 1}, [], '{"a": 1}', {"a": 1}),
        ({"a": 1}, ['{"a":2}'], '{"a": 1}{"a":2}', {}),
        ("{}", [], '"{}"', {}),
        ([], [], "[]", {}),
    ],
)
def test_input_is_the_text_that_was_sent(began: object, pieces: list[str], raw: str, sent: object) -> None:
    block = Block("tool", Does.CALL, {"input": began})
    for piece in pieces:
        block.grow("input", piece)
    assert (block.arguments(), block.whole()["input"]) == (raw, sent)


@pytest.mark.parametrize("source", ["[1]", "{", '{"a": NaN}', '{"a": 1e999}', '{"a":1,"a":2}', "[" * 100_000])
def test_what_no_provider_would_take_back_is_no_object(source: str) -> None:
    assert object_of(source) == {}


def test_only_text_makes_a_field_grow() -> None:
    block = Block("text", Does.TEXT, {"text": "a"})
    for piece in ("b", None, 3, "c"):
        block.grow("text", piece)
    assert block.whole() == {"text": "abc"}


def test_input_that_comes_as_a_value_is_never_taken_for_none() -> None:
    block = Block("tool", Does.CALL, {"input": {}})
    block.grow_input({"path": "a"})
    block.grow_input(None)
    assert block.arguments() == '{"path": "a"}'


def test_a_place_is_the_same_whether_numbered_or_spelled() -> None:
    assert place(1) == place("1") != place(None)
    assert place([1]) is None


def test_a_later_report_of_usage_never_takes_away_what_was_reported() -> None:
    assert sums(Usage(None, None), sent=5, received=None) == Usage(5, None)
    assert sums(Usage(5, 1), sent=0, received=9) == Usage(5, 9)
    assert sums(Usage(5, 1), sent=None, received=None) == Usage(5, 1)


@pytest.mark.requirement("LOOP-3")
def test_a_closed_block_is_not_written_on() -> None:
    draft = BlockDraft(DIALECT)
    draft.begin(call(closed=False), index=0)
    assert draft.open_at(0) is draft.blocks[0]
    draft.close(0)
    draft.close("nowhere")
    assert draft.open_at(0) is None


@pytest.mark.requirement("LOOP-3")
def test_more_calls_than_a_turn_may_hold_run_none() -> None:
    draft = BlockDraft(DIALECT, blocks=[call() for _ in range(129)], closed=True)
    assert draft.finish(raw=b"").ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_a_stop_that_forbids_calls_is_not_undone_by_a_later_one() -> None:
    draft = BlockDraft(DIALECT, blocks=[call()], closed=True)
    draft.take_stop("cut")
    draft.take_stop("call")
    turn = draft.finish(raw=b"")
    assert (turn.ended, turn.calls[0].closed) == (Ended.TRUNCATED, False)


def test_the_first_error_counts() -> None:
    draft = BlockDraft(DIALECT)
    draft.take_error("First.", error='{"a": 1}')
    draft.take_error("Second.", error="{}")
    draft.fail("Third.")
    turn = draft.finish(raw=b"")
    assert (turn.reason, turn.error) == ("First.", '{"a": 1}')


def test_results_are_never_answered_under_one_id() -> None:
    assert reply_ids(["a", "a", "", "call_2"]) == ["a", "call_1", "call_2_", "call_2"]


@pytest.mark.parametrize(
    ("name", "sent"), [("a-b_C9", "a-b_C9"), ("a.b", "a_b"), ("ab" * 9, "ababab"), ("", "unnamed")]
)
def test_a_name_in_a_history_is_one_that_providers_take(name: str, sent: str) -> None:
    assert sendable_name(name, characters_max=6 if sent != "unnamed" else 64) == sent
