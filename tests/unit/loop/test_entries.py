"""What is written in a journal is read again the same, to the byte, and what is none of ours is a fault."""

import dataclasses
import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import Principal
from interlock.core.errors import StoreError
from interlock.core.observation import Observation, Problem, Status
from interlock.core.refusals import Code
from interlock.core.tool import spec_to_json
from interlock.loop.agent import Agent
from interlock.loop.entries import (
    KINDS,
    Begun,
    Body,
    Bound,
    Check,
    Ended,
    Faulted,
    HandedOff,
    Moved,
    Observed,
    Responded,
    Said,
    Wish,
    Wished,
    read,
    written,
)
from interlock.loop.limits import RunLimits
from interlock.loop.machine import Cause
from interlock.ports import RunEntry

pytestmark = pytest.mark.requirement("LOOP-7")

ALICE = Principal("acme", "alice", groups=frozenset({"eng"}), acting_for="carol")
SEEN = Observation("c", "save", "1", Status.REFUSED, b'{"a":"\\u2028"}', Problem(Code.TOOL_ERROR, "why", {"n": [1]}))
BODIES: list[Body] = [
    Begun(
        "Do it.",
        ALICE,
        "a",
        (Agent("a", hand_offs=("b",)), Agent("b", tools=())),
        "m",
        RunLimits(cost_micros=5, calls_per_tool={"x": 1}, waits_s=1.5),
        (Bound("save", "1", "d"),),
        "t",
        7,
        Check("done", '{"x": 1}'),
        "trace",
    ),
    Responded("m", "openai_chat", "a", b'{"x":\n\x00\xff}', streamed=True, tokens=3, reported=False, why="cut"),
    Observed(2, SEEN, "n" * 32, 5, fixable=True, invented=True, edited=True),
    Faulted("busy", 503, 9, 1, 2, 3),
    Wished(Wish.PAUSE, "alice", "wait"),
    Said("hello\nthere", "alice"),
    HandedOff("b", "go on"),
    Moved("why"),
    Ended("answered", "", "done", success=True),
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: KINDS[type(body)])
def test_each_is_read_as_it_was_written(body: Body) -> None:
    entry = written(body, (Cause.OBSERVED, Cause.ASKED), at_us=5)
    again = read(dataclasses.replace(entry, sequence=3))
    assert (again.body, again.causes, again.at_us, again.sequence) == (body, (Cause.OBSERVED, Cause.ASKED), 5, 3)
    assert again.kind == entry.kind == KINDS[type(body)]


@pytest.mark.parametrize("body", [each for each in BODIES if not isinstance(each, Responded | Observed)])
def test_what_the_encoder_writes_by_itself_is_what_is_written_of_specs(body: Body) -> None:
    assert json.loads(written(body, at_us=5).data) == {"causes": [], "is": spec_to_json(body)}


def test_claims_that_the_encoder_does_not_know_are_written_too() -> None:
    begun = BODIES[0]
    assert isinstance(begun, Begun)
    odd = dataclasses.replace(ALICE, claims=MappingProxyType({1: "one"}))  # type: ignore[arg-type]
    body = read(written(dataclasses.replace(begun, principal=odd), at_us=5)).body
    assert isinstance(body, Begun)
    assert body.principal.claims == {"1": "one"}


def test_there_is_a_sample_of_every_kind() -> None:
    assert {type(body) for body in BODIES} == set(KINDS)


@given(st.binary(max_size=200))
def test_whatever_a_model_sent_is_kept_to_the_byte(raw: bytes) -> None:
    body = read(written(Responded("m", "openai_chat", "a", raw), at_us=1)).body
    assert isinstance(body, Responded)
    assert body.raw == raw


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("said", b"no json"),
        ("said", b"{}"),
        ("said", b'{"causes": ["flown"], "is": {"text": "a", "by": "b"}}'),
        ("said", b'{"causes": [], "is": {"text": "a"}}'),
        ("observed", b'{"causes": [], "is": {}}'),
        ("responded", b'{"causes": [], "is": []}'),
        ("of_tomorrow", b'{"causes": [], "is": {}}'),
    ],
)
def test_what_is_none_of_ours_is_a_fault_of_the_store(kind: str, data: bytes) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        read(RunEntry(kind, 1, data))


def test_an_entry_that_was_written_before_a_field_was_added_is_read_with_its_default() -> None:
    data = b'{"causes":["observed"],"is":{"position":0,"nonce":"n"}}\n' + _kept()
    body = read(RunEntry("observed", 1, data)).body
    assert isinstance(body, Observed)
    assert (body.edited, body.fixable, body.working_ms) == (False, False, 0)


def _kept() -> bytes:
    return written(Observed(0, SEEN, "n"), at_us=1).data.partition(b"\n")[2]
