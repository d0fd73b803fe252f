"""What cannot be recorded as it is, is refused, and its record is written in texts that can be."""

from dataclasses import replace
from enum import StrEnum

import pytest

from interlock.core.admission import CALL_ID_CHARS_MAX, TEXT_CHARS_MAX, admit
from interlock.core.call import Caller, Origin, Principal, ToolCall, is_storable
from interlock.core.refusals import Code

CALL = ToolCall("c1", "search")
ALICE = Principal("acme", "alice", groups=frozenset({"eng"}))
BY_ALICE = Caller(ALICE, run="r1", task="t1", key="k1", origin=Origin("http", "a", "m", "t", "root"))
LONG = "x" * (TEXT_CHARS_MAX + 1)

UNFIT = ["\ud800", "a\0b", LONG, "é" * (TEXT_CHARS_MAX + 1)]


@pytest.mark.requirement("CALL-8", "AUD-1")
@pytest.mark.parametrize("text", UNFIT)
@pytest.mark.parametrize("name", ["run", "task", "key"])
def test_a_run_task_or_key_that_cannot_be_recorded_is_refused(name: str, text: str) -> None:
    _, mended, deny = admit(CALL, replace(BY_ALICE, **{name: text}))  # type: ignore[arg-type]
    assert deny is not None
    assert (deny.code, name in deny.message) == (Code.CONTEXT_MISSING, True)
    kept = getattr(mended, name)
    assert is_storable(kept)
    assert len(kept) <= TEXT_CHARS_MAX


@pytest.mark.requirement("CALL-8", "AUD-1")
@pytest.mark.parametrize("text", UNFIT)
@pytest.mark.parametrize("name", ["tenant", "id", "acting_for", "actor"])
def test_a_principal_who_cannot_be_recorded_is_refused(name: str, text: str) -> None:
    _, mended, deny = admit(CALL, replace(BY_ALICE, principal=replace(ALICE, **{name: text})))  # type: ignore[arg-type]
    assert deny is not None
    assert is_storable(getattr(mended.principal, name))


@pytest.mark.requirement("CALL-8", "AUD-1")
@pytest.mark.parametrize(
    "caller",
    [
        replace(BY_ALICE, principal=replace(ALICE, groups=frozenset({"eng", "\ud800"}))),
        replace(BY_ALICE, principal=replace(ALICE, claims={"region": "\ud800"})),
        replace(BY_ALICE, origin=replace(BY_ALICE.origin, trace_id="\0")),
        replace(BY_ALICE, origin=replace(BY_ALICE.origin, agent=LONG)),
    ],
)
def test_whatever_else_the_channel_says_is_looked_at_too(caller: Caller) -> None:
    _, mended, deny = admit(CALL, caller)
    assert deny is not None
    assert admit(CALL, mended)[2] is None


@pytest.mark.requirement("CALL-8")
def test_a_call_id_that_is_too_long_is_refused_and_cut() -> None:
    call, _, deny = admit(replace(CALL, id="i" * 3_000), BY_ALICE)
    assert deny is not None
    assert (deny.code, len(call.id)) == (Code.TOOL_ARGUMENT_INVALID, CALL_ID_CHARS_MAX)


@pytest.mark.parametrize(
    "caller",
    [
        BY_ALICE,
        Caller(ALICE),
        replace(BY_ALICE, task="é" * TEXT_CHARS_MAX, key="x" * TEXT_CHARS_MAX),
        replace(BY_ALICE, principal=replace(ALICE, claims={"region": "eu", "level": 3})),
    ],
)
def test_what_can_be_recorded_goes_on_as_it_is(caller: Caller) -> None:
    call, same, deny = admit(CALL, caller)
    assert call is CALL
    assert same is caller
    assert deny is None


class Quarter(StrEnum):
    """What a host may name a piece of work by."""

    FIRST = "q1"


NO_TEXT = [None, 7, 1.5, True, b"x", ["x"], {"x": 1}, object()]


@pytest.mark.requirement("CALL-8", "AUD-1")
@pytest.mark.parametrize("value", NO_TEXT[1:])
@pytest.mark.parametrize("name", ["run", "task", "key", "origin"])
def test_what_is_no_text_is_refused_where_the_channel_says_it(name: str, value: object) -> None:
    given = {name: Origin(agent=value)} if name == "origin" else {name: value}  # type: ignore[arg-type]  # as it is tried
    _, mended, deny = admit(CALL, replace(BY_ALICE, **given))  # type: ignore[arg-type]  # as it is tried
    assert deny is not None
    assert deny.code is Code.CONTEXT_MISSING
    assert admit(CALL, mended)[2] is None


@pytest.mark.requirement("CALL-8")
@pytest.mark.parametrize("value", NO_TEXT)
@pytest.mark.parametrize("name", ["id", "name", "expectation"])
def test_what_is_no_text_is_refused_where_a_model_says_it(name: str, value: object) -> None:
    call, _, deny = admit(replace(CALL, **{name: value}), BY_ALICE)  # type: ignore[arg-type]  # as it is tried
    if name == "expectation" and value is None:
        assert deny is None
        return
    assert deny is not None
    assert (deny.code, name in deny.message, getattr(call, name)) == (Code.TOOL_ARGUMENT_INVALID, True, "")


def test_members_of_enums_are_the_texts_that_they_are() -> None:
    admit(CALL, replace(BY_ALICE, run="q1", task="q1", key="q1"))  # equal ones that were let in before prove nothing
    named = replace(BY_ALICE, run=Quarter.FIRST, task=Quarter.FIRST, key=Quarter.FIRST, origin=Origin(Quarter.FIRST))
    _, caller, deny = admit(CALL, named)
    assert deny is None
    texts = (caller.run, caller.task, caller.key, caller.origin.door)
    assert [(type(each), each) for each in texts] == 4 * [(str, "q1")]


@pytest.mark.parametrize("value", [None, b"x", ["eu"], object()])
def test_a_claim_that_is_no_plain_value_is_refused(value: object) -> None:
    attested = replace(ALICE, claims={"region": value})  # type: ignore[dict-item]  # as it is tried
    deny = admit(CALL, replace(BY_ALICE, principal=attested))[2]
    assert deny is not None
    assert "claim" in deny.message
