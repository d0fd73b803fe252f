"""A log holds only with all its records and checkpoints, each in its place and signed by a trusted key."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.audit_log import LogItem, Verified, unlike_ends, verify_log
from interlock.core.chain import Break, Damage, Head, Record, extend, genesis
from interlock.core.checkpoint import BEGINNING, Checkpoint, Mark
from tests.audit_samples import KEY, KEYS, STEPS, TIME_US, build_log, plain, seal

# a1 b1 a2 *1 b2 b3 a3 *2
LOG = tuple(plain(build_log()))
FIRST, LAST = (item for item in LOG if isinstance(item, Checkpoint))
HEADS = LAST.heads
HASH, OTHER = "a" * 64, "b" * 64
PLACES = st.integers(0, len(LOG) - 1)
RECORD_PLACES = st.sampled_from([place for place, item in enumerate(LOG) if isinstance(item, Record)])


@pytest.mark.requirement("AUD-2")
@given(st.lists(st.sampled_from("abcdefgh*"), max_size=60))
def test_any_interleaving_of_eight_writers_and_checkpoints_verifies(steps: list[str]) -> None:
    found = verify_log(plain(build_log(steps)), keys=KEYS)
    assert isinstance(found, Verified)
    assert found.records == len(steps) - steps.count("*")
    assert {head.chain: head.sequence for head in found.heads} == {step: steps.count(step) for step in {*steps} - {"*"}}
    assert found.unsigned == len("".join(steps).rpartition("*")[2])
    assert found.mark.number == steps.count("*")


@pytest.mark.requirement("AUD-2")
@given(RECORD_PLACES)
def test_a_deleted_record_is_found_whether_or_not_others_of_its_chain_follow(place: int) -> None:
    record = LOG[place]
    assert isinstance(record, Record)
    later = any(isinstance(item, Record) and item.chain == record.chain for item in LOG[place + 1 :])
    found = _found((*LOG[:place], *LOG[place + 1 :]))
    assert found == (Damage.MISSING if later else Damage.TRUNCATED, record.chain, record.sequence)


@pytest.mark.requirement("AUD-2")
@given(RECORD_PLACES, st.binary(min_size=1))
def test_a_record_whose_chain_was_hashed_anew_is_not_what_the_checkpoint_covers(place: int, body: bytes) -> None:
    record = LOG[place]
    assert isinstance(record, Record)
    what, chain, _ = _found(_rehashed(record, body)) or (None, None, 0)
    assert (what, chain) == (Damage.REWRITTEN, record.chain)


@pytest.mark.requirement("AUD-2")
@given(PLACES, PLACES)
def test_an_item_that_was_moved_is_found_unless_only_the_interleaving_changed(source: int, target: int) -> None:
    items = list(LOG)
    items.insert(target, items.pop(source))
    if _order(items) == _order(LOG):
        assert _found(items) is None
    else:
        what, _, _ = _found(items) or (None, None, 0)
        assert what in {Damage.REORDERED, Damage.MISSING, Damage.TRUNCATED}


@pytest.mark.requirement("AUD-2")
@given(PLACES, PLACES)
def test_an_item_that_comes_twice_is_found(source: int, target: int) -> None:
    assert _found((*LOG[:target], LOG[source], *LOG[target:])) is not None


@pytest.mark.requirement("AUD-2")
def test_a_checkpoint_that_comes_twice_is_reordered_at_its_number() -> None:
    assert _found((*LOG[:4], FIRST, *LOG[4:])) == (Damage.REORDERED, None, 1)


@pytest.mark.requirement("AUD-2")
def test_a_removed_checkpoint_is_missing_at_its_number() -> None:
    without = [item for item in LOG if item is not FIRST]
    assert _found(without) == (Damage.MISSING, None, 1)


@pytest.mark.requirement("AUD-2")
@given(st.integers(0, len(LOG) - 1))
def test_a_cut_end_is_found_with_a_mark_or_a_head_held_outside(end: int) -> None:
    cut = LOG[:end]
    by_mark = _found(cut, outside=(LAST.mark,))
    assert by_mark == (Damage.TRUNCATED, None, 2 if FIRST in cut else 1)
    read = {item.chain: item.sequence for item in cut if isinstance(item, Record)}
    lost = [head for head in HEADS if read.get(head.chain, 0) < head.sequence]
    expected = (Damage.TRUNCATED, lost[0].chain, read.get(lost[0].chain, 0) + 1) if lost else None
    assert _found(cut, outside=HEADS) == expected


@pytest.mark.requirement("AUD-2")
def test_a_log_that_was_truncated_and_restarted_is_found_with_what_is_held_outside() -> None:
    anew = plain(build_log(("a", "*", "b", "*", "a", "*")))
    assert _found(anew) is None
    assert _found(anew, outside=(FIRST.mark,)) == (Damage.REWRITTEN, None, 1)
    assert _found(anew, outside=(LAST.heads[1],)) == (Damage.TRUNCATED, "b", 2)


@pytest.mark.requirement("AUD-2")
def test_a_checkpoint_of_another_key_is_forged_at_its_number() -> None:
    stranger = plain(build_log(private_key=bytes(32)))
    assert _found(stranger) == (Damage.FORGED, None, 1)
    assert _found([*LOG[:-1], stranger[-1]]) == (Damage.FORGED, None, 2)


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"number": 3}, Damage.FORGED),
        ({"time_us": TIME_US}, Damage.FORGED),
        ({"root": "0" * 64}, Damage.FORGED),
        ({"previous": "0" * 64}, Damage.FORGED),
        ({"signature": bytes(64)}, Damage.FORGED),
        ({"signature": b""}, Damage.FORGED),
        ({"key_fingerprint": "0" * 64}, Damage.FORGED),
        ({"heads": (HEADS[0], replace(HEADS[1], sequence=2))}, Damage.EDITED),
        ({"heads": HEADS[::-1]}, Damage.MALFORMED),
        ({"heads": HEADS * 2}, Damage.MALFORMED),
        ({"root": "no hash"}, Damage.MALFORMED),
        ({"number": True}, Damage.MALFORMED),
    ],
)
def test_an_edited_field_of_a_checkpoint_is_found(fields: dict[str, Any], what: Damage) -> None:
    found = _found((*LOG[:-1], replace(LAST, **fields)))
    assert found is not None
    assert found[:2] == (what, None)


@pytest.mark.requirement("AUD-2")
def test_a_signed_checkpoint_that_does_not_follow_the_one_before_it_is_found() -> None:
    beside = seal(HEADS, after=replace(FIRST.mark, hash="1" * 64), time_us=TIME_US)
    assert _found((*LOG[:-1], beside)) == (Damage.REWRITTEN, None, 2)


@pytest.mark.requirement("AUD-2")
def test_a_signed_checkpoint_that_forgets_a_chain_is_found() -> None:
    forgetful = seal(HEADS[:1], after=FIRST.mark, time_us=TIME_US)
    assert _found((*LOG[:-1], forgetful)) == (Damage.REORDERED, "b", 1)


def test_a_checkpoint_may_know_a_chain_of_which_nothing_was_written() -> None:
    empty = Head("z", 0, "0" * 64)
    assert _found([seal([empty], after=BEGINNING, time_us=0)]) == (Damage.REWRITTEN, "z", 0)
    items = plain(build_log(("a",)))
    assert isinstance(items[0], Record)
    assert _found([*items, seal([items[0].head], after=BEGINNING, time_us=0)]) is None


@pytest.mark.requirement("AUD-2")
def test_a_part_begins_with_the_checkpoint_that_it_names() -> None:
    part = LOG[LOG.index(FIRST) :]
    assert _found(part, since=1) is None
    assert _found(part) == (Damage.MISSING, "a", 1)
    assert _found(part[1:], since=1) == (Damage.MISSING, None, 1)
    assert _found((), since=1) == (Damage.MISSING, None, 1)
    assert _found((LAST,), since=2) is None
    assert _found((LAST,), since=1) == (Damage.MISSING, None, 1)
    assert _found((LAST,), since=2, outside=(FIRST.mark,)) == (Damage.MISSING, None, 1)


@pytest.mark.requirement("AUD-2")
def test_what_could_not_be_shown_is_said() -> None:
    bare = " ".join(_verified(LOG[:2]).limits)
    assert "can rewrite the log and sign it anew" in bare
    assert "no head or mark held outside was given" in bare
    assert "Nothing in this log is signed" in bare
    tail = _verified(plain(build_log((*STEPS, "a", "b"))), outside=(LAST.mark,))
    assert "the last 2 records" in " ".join(tail.limits)
    assert "cut back" not in " ".join(tail.limits)
    assert "before checkpoint 2 is not shown" in " ".join(_verified((LAST,), since=2).limits)


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize(
    ("steps", "signed", "says"),
    [
        ("ab", False, "The log holds: 2 records in 2 chains, none of them signed."),
        ("ab*", True, "The log holds: 2 records in 2 chains, all signed by checkpoint 1."),
        ("a*aa", False, "The log holds: 3 records in 1 chain, all but the last 2 signed by checkpoint 1."),
    ],
)
def test_what_holds_says_what_of_it_is_signed(steps: str, signed: bool, says: str) -> None:
    found = _verified(plain(build_log(tuple(steps))))
    assert (found.signed, found.sentence) == (signed, says)


def _verified(items: Sequence[LogItem], *, since: int = 0, outside: tuple[Head | Mark, ...] = ()) -> Verified:
    found = verify_log(items, keys=frozenset({KEY}), since=since, outside=outside)
    assert isinstance(found, Verified)
    return found


def _found(
    items: Sequence[LogItem], *, since: int = 0, outside: tuple[Head | Mark, ...] = ()
) -> tuple[Damage, str | None, int] | None:
    found = verify_log(items, keys=KEYS, since=since, outside=outside)
    if isinstance(found, Break):
        assert found.sentence
        return found.what, found.chain, found.sequence
    return None


def _order(items: Sequence[LogItem]) -> list[object]:
    """What must hold of the order: that of each chain, and where the checkpoints cut it."""
    parts: list[dict[str, list[int]]] = [{}]
    numbers = []
    for item in items:
        if isinstance(item, Checkpoint):
            numbers.append(item.number)
            parts.append({})
        elif isinstance(item, Record):
            parts[-1].setdefault(item.chain, []).append(item.sequence)
    return [parts, numbers]


def _rehashed(edited: Record, body: bytes) -> list[LogItem]:
    """The log with another body in one record and its chain's hashes made to fit, as one without the key can."""
    chain = [item for item in LOG if isinstance(item, Record) and item.chain == edited.chain]
    bodies = [body if record == edited else record.body for record in chain]
    anew = {record.sequence: record for record in extend(genesis(edited.chain), bodies=bodies)}
    return [anew[item.sequence] if isinstance(item, Record) and item.chain == edited.chain else item for item in LOG]


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ((), (Head("a", 3, HASH),), None),
        ((Head("a", 2, OTHER),), (Head("a", 5, OTHER), Head("b", 1, OTHER)), None),
        ((Head("a", 4, HASH),), (Head("a", 4, HASH),), Damage.TRUNCATED),
        ((Head("b", 1, HASH),), (Head("a", 3, HASH), Head("b", 1, HASH)), Damage.TRUNCATED),
        ((), (Head("a", 2, HASH),), Damage.FORGED),
        ((), (), Damage.FORGED),
        ((), (Head("a", 3, OTHER),), Damage.REWRITTEN),
    ],
)
def test_records_end_where_their_store_says_that_the_chains_end(
    before: tuple[Head, ...], after: tuple[Head, ...], what: Damage | None
) -> None:
    found = unlike_ends([Head("a", 3, HASH)], before=before, after=after)
    assert (found and found.what) == what
