"""An observation says all there is to say of a proposal, and survives being stored."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.canonical import decode
from interlock.core.chain import Head
from interlock.core.errors import StoreError
from interlock.core.evidence import Evidence, EvidenceKind, Source
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.core.observation import Observation, Problem, Status, from_bytes, released, to_bytes
from interlock.core.refusals import Code

TEXTS = st.text(max_size=6)
BIG = st.integers(-(2**70), 2**70)
OBSERVATIONS = st.builds(
    Observation,
    TEXTS,
    TEXTS,
    TEXTS,
    st.sampled_from(Status),
    data_json=st.none()
    | st.sampled_from([b"null", b'{"b":1,"a":1.0}', b'[1e300,"\xe2\x82\xac"]', b"123456789012345678901"]),
    error=st.none()
    | st.builds(Problem, st.sampled_from(Code), TEXTS, st.dictionaries(TEXTS, st.none() | BIG | TEXTS, max_size=2)),
    retryable=st.booleans(),
    retry_after_s=st.none() | st.floats(0, 1e6),
    operation_id=st.none() | TEXTS,
    evidence=st.none()
    | st.builds(
        Evidence,
        st.sampled_from(EvidenceKind),
        st.booleans(),
        sources=st.lists(st.builds(Source, TEXTS, TEXTS, st.none() | st.integers(1, 9)), max_size=2).map(tuple),
        data_time_us=st.none() | BIG,
    ),
    labels=st.none()
    | st.builds(Labels, st.sampled_from(Confidentiality), st.sampled_from(Trust), st.frozensets(TEXTS, max_size=2)),
    truncated=st.none() | st.integers(0, 2**60),
    replayed=st.booleans(),
    executed_at_us=st.none() | BIG,
    usage=st.dictionaries(TEXTS, BIG, max_size=2),
    receipt=st.none() | st.builds(Head, TEXTS, st.integers(0, 2**60), TEXTS),
    hint=TEXTS,
    user_text=TEXTS,
    invisible_removed=st.integers(0, 9),
    open_items=st.lists(TEXTS, max_size=2).map(tuple),
)


@pytest.mark.requirement("IDEM-2")
@given(OBSERVATIONS)
def test_an_observation_comes_back_from_the_store_as_it_went_in(seen: Observation) -> None:
    assert from_bytes(to_bytes(seen)) == seen
    assert from_bytes(to_bytes(seen)).data_json == seen.data_json


@given(OBSERVATIONS)
def test_what_a_door_sends_is_the_same_before_and_after_the_store(seen: Observation) -> None:
    before, after = (json.dumps(each.to_json(), sort_keys=True) for each in (seen, from_bytes(to_bytes(seen))))
    assert after == before


@pytest.mark.requirement("OBS-1")
def test_every_field_is_sent_and_the_result_as_json() -> None:
    sent = Observation("c1", "read", "1", Status.OK, b'{"n":1}', replayed=True).to_json()
    assert sent["data"] == {"n": 1}
    assert sent.keys() == {
        *("call_id", "tool", "version", "status", "data", "error", "retryable", "retry_after_s", "operation_id"),
        *("resource", "resource_version", "evidence", "labels", "truncated", "replayed", "executed_at_us"),
        *("approval_id", "expires_at_us", "usage", "receipt", "hint", "user_text", "invisible_removed"),
        *("open_items", "cached_s", "handle", "items"),
    }


@pytest.mark.requirement("OBS-1")
def test_the_statuses_are_these() -> None:
    words = "ok partial accepted refused waiting failed unknown compensating compensated compensation_failed"
    assert [each.value for each in Status] == words.split()


@pytest.mark.requirement("CALL-8")
def test_waiting_accepted_unknown_and_compensating_are_interim() -> None:
    interim = {each for each in Status if not each.is_terminal}
    assert interim == {Status.WAITING, Status.ACCEPTED, Status.UNKNOWN, Status.COMPENSATING}


def test_a_reader_cannot_change_the_result_for_the_next_one() -> None:
    seen = Observation("c1", "read", "1", Status.OK, b'{"n":[1]}')
    first = seen.data
    assert isinstance(first, dict)
    first["n"] = 2
    assert seen.data == {"n": [1]}
    assert Observation("c1", "read", "1", Status.REFUSED).data is None


def test_the_receipt_is_added_when_the_record_is_durable() -> None:
    receipt = Head("chain", 7, "ab")
    seen = released(Observation("c1", "read", "1", Status.OK), receipt)
    assert seen.receipt == receipt
    assert seen.changed({"hint": "x"}).receipt == receipt


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"call_id":"c1"}', b"\xff"])
def test_bytes_that_are_no_observation_are_a_fault_of_the_store(data: bytes) -> None:
    with pytest.raises(StoreError, match="stored observation"):
        from_bytes(data)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("status", "perhaps"),
        ("error", {"code": "NEW_CODE", "message": "", "details": {}}),
        ("labels", {"confidentiality": "odd", "trust": "trusted", "origins": []}),
        ("labels", "public"),
        ("open_items", "one"),
        ("retry_after_s", True),
        ("data_json", 5),
        ("receipt", {"chain": "c"}),
    ],
)
def test_a_stored_field_of_another_type_is_a_fault_of_the_store(name: str, broken: object) -> None:
    stored = decode(to_bytes(Observation("c1", "read", "1", Status.OK)))
    assert isinstance(stored, dict)
    with pytest.raises(StoreError, match="stored observation"):
        from_bytes(orjson.dumps({**stored, name: broken}))
