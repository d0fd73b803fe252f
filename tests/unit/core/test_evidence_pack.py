"""MoveEvidence reads back as it was written, is in order, and shows every change of its file."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.canonical import decode
from interlock.core.evidence_pack import MoveEvidence, Pack, in_order, is_whole, pack_from_json, review_day
from interlock.core.lifecycle import Lifecycle, Need
from interlock.core.move_gates import Grounds, Standing, Weighed
from interlock.core.tool import Document, spec_to_json

pytestmark = pytest.mark.requirement("REG-2")

PACK = Pack(
    id="1",
    tenant="acme",
    source="python",
    name="save",
    version="1",
    digest="d",
    to=Lifecycle.AVAILABLE,
    at_us=1_700_000_000_000_000,
    by="olga",
    started=Lifecycle.CANDIDATE,
    grounds=Grounds(reason="tried", samples=("a", "b"), waive={Need.ERRORS: "none"}),
    gate=(Weighed(Need.ERRORS, Standing.WAIVED, "none", "olga"), Weighed(Need.REASON, Standing.MET, "")),
    impact=Document.of({"agents": {"count": 2, "named": ["x"]}, "runs": "not looked at"}),
)
EVIDENCE = MoveEvidence(name="save", version="1", digest="d", contract=Document.of({"name": "save"}), packs=(PACK,))


def test_a_pack_is_read_again_as_it_was() -> None:
    assert pack_from_json(decode(json.dumps(spec_to_json(PACK)).encode())) == PACK


def test_packs_stand_in_the_order_of_their_moves() -> None:
    later = pack_from_json({**decode_pack(), "at_us": PACK.at_us + 1, "id": "0"})
    assert in_order([later, PACK]) == (PACK, later)


def test_a_day_of_review_stands_until_another_is_named() -> None:
    first = replace(PACK, grounds=replace(PACK.grounds, review_on="2027-01-31"))
    other = replace(PACK, grounds=replace(PACK.grounds, review_on="2027-06-30"))
    assert review_day((PACK,)) == ""
    assert review_day((first, PACK)) == "2027-01-31"
    assert review_day((first, other, PACK)) == "2027-06-30"


def decode_pack() -> dict[str, object]:
    value = spec_to_json(PACK)
    assert isinstance(value, dict)
    return {**value}


@given(st.integers(0, len(EVIDENCE.to_json()) - 1), st.integers(1, 255))
def test_any_byte_that_is_changed_shows(place: int, by: int) -> None:
    whole = EVIDENCE.to_json()
    assert is_whole(whole)
    changed = bytearray(whole)
    changed[place] = (changed[place] + by) % 256
    assert not is_whole(bytes(changed)) or decode(bytes(changed)) == decode(whole)


@pytest.mark.parametrize("document", [b"", b"[]", b"{}", b'{"format":"interlock.evidence/1"}', b"\xff"])
def test_what_is_no_evidence_is_not_whole(document: bytes) -> None:
    assert not is_whole(document)


def test_people_read_who_why_how_the_gate_stood_and_whom_it_touched() -> None:
    text = EVIDENCE.to_markdown()
    for part in (
        "# save 1: evidence",
        "## 2023-11-14T22:13:20Z: candidate to available",
        "- Reason: tried",
        "- Rests on: a, b",
        "| errors | waived | none (olga) |",
        "Impact: agents 2, runs not looked at.",
        decode_digest(),
    ):
        assert part in text


def decode_digest() -> str:
    return str(json.loads(EVIDENCE.to_json())["digest"])
