"""A chain shows every later change of its records, at the right place."""

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.chain import (
    SALT_BYTES,
    Break,
    ChainWalk,
    Damage,
    Head,
    PayloadCheck,
    Record,
    Veiled,
    commitment,
    extend,
    genesis,
    link,
    verify_chain,
    verify_payload,
)

START = genesis("w")
RECORDS = extend(START, bodies=[f"body {n}".encode() for n in range(1, 9)])
SALT = bytes(range(SALT_BYTES))
PLACES = st.integers(0, len(RECORDS) - 1)


def test_a_hash_covers_the_hash_before_it_and_the_hash_of_the_body() -> None:
    previous, body = b"p" * 32, b"body"
    assert link(previous, body=body) == sha256(b"interlock/1/record\0" + previous + sha256(body).digest()).digest()


def test_an_empty_chain_ends_where_it_starts_and_its_start_binds_its_name() -> None:
    assert verify_chain([], start=START) == START == Head("w", 0, sha256(b"interlock/1/genesis\0w").hexdigest())
    assert genesis("v").hash != START.hash


@given(st.lists(st.binary(max_size=20)), st.integers(0, 30))
def test_any_batches_give_the_same_chain_as_one(bodies: list[bytes], cut: int) -> None:
    first = extend(START, bodies=bodies[:cut])
    second = extend(first[-1].head if first else START, bodies=bodies[cut:])
    assert first + second == extend(START, bodies=bodies)
    assert verify_chain(first + second, start=START) == ((first + second)[-1].head if bodies else START)


@pytest.mark.requirement("AUD-2")
@given(PLACES, st.sampled_from(["nothing", "body", "hash", "sequence", "chain", "veil", "held"]))
def test_many_records_are_taken_at_once_as_far_as_each_alone_would_be(place: int, change: str) -> None:
    changes: dict[str, object] = {"body": b"other", "hash": "0" * 64, "sequence": True, "chain": "v"}
    records: list[Record | Veiled] = [*_with(place, **{change: changes[change]} if change in changes else {})]
    if change == "veil":
        records[place] = Veiled("w", place + 1, RECORDS[place].hash, RECORDS[place].body_digest)
    held = (replace(RECORDS[place].head, hash="0" * 64),) if change == "held" else ()
    one, many = ChainWalk(held), ChainWalk(held)
    assert many.follow(records) == 0
    assert one.advance(records[0]) == many.advance(records[0])
    count = many.follow(records[1:])
    assert count == len(records) - 1 or change != "nothing"
    assert [one.advance(each) for each in records[1 : 1 + count]] == [None] * count
    assert one.heads() == many.heads()
    after = records[1 + count : 2 + count]
    assert [one.advance(each) for each in after] == [many.advance(each) for each in after]


@pytest.mark.requirement("AUD-2")
def test_records_that_were_proved_elsewhere_are_passed_over_only_where_the_chain_stands() -> None:
    apart = ChainWalk()
    assert apart.start(RECORDS[2].head) is None
    assert apart.follow(RECORDS[3:6]) == 3
    stretch = apart.stretch(RECORDS[2].head)
    assert (stretch.end, stretch.before) == (RECORDS[5].head, RECORDS[4].hash)
    walk = ChainWalk()
    assert not walk.pass_over(stretch)
    assert walk.heads() == ()
    assert not any(walk.advance(each) for each in RECORDS[:3])
    assert not walk.pass_over(replace(stretch, start=replace(stretch.start, hash=RECORDS[1].hash)))
    assert walk.pass_over(stretch)
    assert not walk.pass_over(stretch)
    beside = Record("w", 7, link(bytes.fromhex(RECORDS[4].hash), body=b"x").hex(), b"x")
    found = walk.advance(beside)
    assert found is not None
    assert found.what is Damage.FORKED
    assert [walk.advance(each) for each in RECORDS[6:]] == [None, None]
    late = ChainWalk([Head("w", 0, "0" * 64)])
    assert not late.pass_over(replace(stretch, start=START))
    assert late.heads() == ()


@pytest.mark.requirement("AUD-2")
@given(PLACES, st.integers(0, 5), st.integers(1, 255))
def test_an_edited_body_is_found_at_its_record(place: int, byte: int, flip: int) -> None:
    body = bytearray(RECORDS[place].body)
    body[byte] ^= flip
    assert _found(_with(place, body=bytes(body))) == (Damage.EDITED, place + 1)


@pytest.mark.requirement("AUD-2")
@given(PLACES, st.integers(0, 63), st.characters(max_codepoint=255))
def test_an_edited_hash_is_found_at_its_record(place: int, digit: int, other: str) -> None:
    old = RECORDS[place].hash
    edited = old[:digit] + other + old[digit + 1 :]
    expected = (Damage.EDITED, place + 1) if edited != old else None
    assert _found(_with(place, hash=edited)) == expected


@pytest.mark.requirement("AUD-2")
@given(PLACES, st.text(max_size=3))
def test_an_edited_name_is_found_at_its_record(place: int, name: str) -> None:
    assert _found(_with(place, chain=name)) == ((Damage.EDITED, place + 1) if name != "w" else None)


@pytest.mark.requirement("AUD-2")
@given(PLACES, st.integers(-3, 30))
def test_an_edited_sequence_is_found_where_it_leaves_a_gap_or_comes_again(place: int, sequence: int) -> None:
    found = _found(_with(place, sequence=sequence))
    own = place + 1
    if sequence > own:
        assert found == (Damage.MISSING, own)
    elif 0 <= sequence < own:
        assert found == (Damage.FORKED, sequence)
    else:
        assert found == (None if sequence == own else (Damage.MALFORMED, 0))


@pytest.mark.requirement("AUD-2")
@given(st.integers(0, len(RECORDS) - 2))
def test_a_deleted_record_is_missing_at_its_place(place: int) -> None:
    assert _found(RECORDS[:place] + RECORDS[place + 1 :]) == (Damage.MISSING, place + 1)


@pytest.mark.requirement("AUD-2")
@given(PLACES, PLACES)
def test_two_records_that_changed_places_are_reordered_at_the_first(one: int, other: int) -> None:
    records = list(RECORDS)
    records[one], records[other] = records[other], records[one]
    assert _found(records) == ((Damage.REORDERED, min(one, other) + 1) if one != other else None)


@pytest.mark.requirement("AUD-2")
@given(PLACES, st.integers(0, 8))
def test_a_record_that_comes_twice_is_found(place: int, at: int) -> None:
    records = [*RECORDS[:at], RECORDS[place], *RECORDS[at:]]
    early = (Damage.REORDERED, at + 1)
    late = (Damage.FORKED, place + 1)
    assert _found(records) == (early if place > at else late)


@pytest.mark.requirement("AUD-2")
def test_two_writers_that_read_the_same_tail_are_found_as_a_fork() -> None:
    tail = RECORDS[3].head
    (beside,) = extend(tail, bodies=[b"the other writer's"])
    assert _found([*RECORDS[:5], beside]) == (Damage.FORKED, 5)
    assert _found([*RECORDS[:5], replace(beside, sequence=6)]) == (Damage.FORKED, 6)


@pytest.mark.requirement("AUD-2")
@given(st.integers(0, 8), st.integers(0, 8))
def test_a_tail_cut_below_a_head_held_outside_is_found_at_the_first_lost_record(end: int, held: int) -> None:
    outside = RECORDS[held - 1].head if held else START
    found = _found(RECORDS[:end], outside=(outside,))
    assert found == ((Damage.TRUNCATED, end + 1) if end < held else None)


@pytest.mark.requirement("AUD-2")
def test_a_chain_that_was_restarted_does_not_fit_a_receipt() -> None:
    receipt = RECORDS[4].head
    restarted = extend(START, bodies=[f"other {n}".encode() for n in range(8)])
    assert _found(restarted, outside=(receipt,)) == (Damage.REWRITTEN, 5)
    assert _found(restarted[:3], outside=(receipt,)) == (Damage.TRUNCATED, 4)
    assert _found(restarted) is None


def test_a_part_verifies_from_the_head_before_it_and_from_no_other() -> None:
    assert verify_chain(RECORDS[4:], start=RECORDS[3].head) == RECORDS[-1].head
    assert _found(RECORDS[4:], start=replace(RECORDS[3].head, hash=START.hash)) == (Damage.EDITED, 5)
    assert _found(RECORDS[4:], start=RECORDS[3].head, outside=(RECORDS[1].head,)) == (Damage.MISSING, 2)
    assert _found(RECORDS[4:], start=RECORDS[3].head, outside=(replace(START, sequence=4),)) == (Damage.REWRITTEN, 4)


@pytest.mark.requirement("AUD-4")
@given(PLACES)
def test_a_record_without_its_body_still_links_by_the_hash_of_it(place: int) -> None:
    old = RECORDS[place]
    veiled = Veiled(old.chain, old.sequence, old.hash, old.body_digest)
    assert _found([*RECORDS[:place], veiled, *RECORDS[place + 1 :]]) is None
    edited = replace(veiled, body_digest=bytes(32))
    assert _found([*RECORDS[:place], edited, *RECORDS[place + 1 :]]) == (Damage.EDITED, place + 1)


@given(st.sampled_from(["", "x" * 64, START.hash.upper(), START.hash + "\n", START.hash[:-1]]))
def test_a_start_that_is_no_head_is_a_break(text: str) -> None:
    assert _found(RECORDS, start=Head("w", 0, text)) == (Damage.MALFORMED, 0)


@given(st.sampled_from([None, True, 1.0, "1", b"1", [], {}]), st.sampled_from(["chain", "sequence", "hash", "body"]))
def test_fields_of_another_type_are_a_break_and_never_an_exception(value: object, field: str) -> None:
    record = RECORDS[0]
    damaged = replace(record, **{field: cast("Any", value)})
    assert isinstance(verify_chain([damaged], start=START), Break)


def test_a_lone_surrogate_in_a_name_is_only_a_name() -> None:
    start = genesis("\ud800")
    assert verify_chain(extend(start, bodies=[b"x"]), start=start) == extend(start, bodies=[b"x"])[0].head


@pytest.mark.requirement("AUD-4")
def test_a_payload_fits_its_commitment_and_nothing_else_does() -> None:
    committed = commitment(SALT, payload=b"payload")
    assert committed == sha256(SALT + b"payload").hexdigest()
    assert verify_payload(committed, salt=SALT, payload=b"payload") is PayloadCheck.MATCHES
    assert verify_payload(committed, salt=SALT, payload=b"Payload") is PayloadCheck.DIFFERS
    assert verify_payload(committed, salt=SALT[::-1], payload=b"payload") is PayloadCheck.DIFFERS
    assert verify_payload(committed, salt=None, payload=b"payload") is PayloadCheck.DIFFERS


@pytest.mark.requirement("AUD-4")
def test_a_purged_payload_breaks_nothing() -> None:
    assert verify_payload(commitment(SALT, payload=b"payload"), salt=None, payload=None) is PayloadCheck.PURGED


def test_bytes_cannot_be_moved_between_salt_and_payload() -> None:
    committed = commitment(SALT, payload=b"payload")
    assert verify_payload(committed, salt=SALT + b"p", payload=b"ayload") is PayloadCheck.DIFFERS
    with pytest.raises(ValueError, match="16 bytes"):
        commitment(SALT[:-1], payload=b"payload")


def test_a_sentence_bounds_and_cleans_the_name_that_it_shows() -> None:
    start = genesis("\u202e" * 500)
    found = verify_chain([replace(extend(start, bodies=[b"x"])[0], body=b"y")], start=start)
    assert isinstance(found, Break)
    assert found.sentence.isascii()
    assert len(found.sentence) < 200


def _with(place: int, **fields: Any) -> list[Record]:
    return [*RECORDS[:place], replace(RECORDS[place], **fields), *RECORDS[place + 1 :]]


def _found(
    records: Iterable[Record | Veiled], *, start: Head = START, outside: tuple[Head, ...] = ()
) -> tuple[Damage, int] | None:
    found = verify_chain(records, start=start, outside=outside)
    return (found.what, found.sequence) if isinstance(found, Break) else None
