"""An export proves itself with no more than a fingerprint, and shows of other tenants only hashes."""

from collections.abc import Sequence
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.audit_log import Verified
from interlock.core.chain import Break, Damage, Head, extend, genesis
from interlock.core.checkpoint import BEGINNING, Checkpoint, Mark
from interlock.core.export import verify_export
from interlock.core.export_lines import Header, Kept, Line, Shown, Trailer, spell
from tests.audit_samples import FINGERPRINTS, KEY, TIME_US, build_log, export, seal

# header a1 b1 a2 *1 b2 b3 a3 *2 trailer
LOG = build_log()
DOCUMENT = tuple(export(LOG))
A1 = next(item for item in LOG if isinstance(item, Shown))
FIRST, LAST = (item for item in LOG if isinstance(item, Checkpoint))
INNER = st.integers(1, len(DOCUMENT) - 1)


@pytest.mark.requirement("AUD-2")
def test_an_export_verifies_with_the_keys_fingerprint() -> None:
    found = _verify(DOCUMENT)
    assert isinstance(found, Verified)
    assert (found.records, found.veiled, found.payloads, found.purged, found.unsigned) == (6, 2, 4, 0, 0)
    assert found.mark == LAST.mark
    assert found.heads == LAST.heads


@pytest.mark.requirement("AUD-4")
def test_an_export_holds_nothing_but_hashes_of_other_tenants() -> None:
    text = b"".join(DOCUMENT)
    assert b"globex" not in text
    for item in LOG:
        if isinstance(item, Shown) and b"globex" in item.record.body:
            assert item.record.body not in text
            assert item.payloads[0][1].salt.hex().encode() not in text
            assert orjson.loads(item.record.body)["nonce"].encode() not in text


@pytest.mark.requirement("AUD-4")
def test_purged_payloads_leave_the_export_whole() -> None:
    purged = [replace(item, payloads=()) if isinstance(item, Shown) else item for item in LOG]
    found = _verify(export(purged))
    assert isinstance(found, Verified)
    assert (found.payloads, found.purged) == (0, 4)
    assert "purged or withheld" in " ".join(found.limits)


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("number", range(1, len(DOCUMENT) + 1))
def test_every_changed_byte_is_found(number: int) -> None:
    line = DOCUMENT[number - 1]
    for at in range(len(line)):
        edited = line[:at] + bytes([line[at] ^ (1 << at % 8)]) + line[at + 1 :]
        found = _broken(_replaced(number, edited))
        assert found.line is not None
        assert found.line >= number if number == 1 else found.line == number


@pytest.mark.requirement("AUD-2")
@given(INNER, st.data())
def test_every_single_byte_edit_is_found_in_its_line(index: int, data: st.DataObject) -> None:
    line = DOCUMENT[index]
    at, byte = data.draw(st.integers(0, len(line) - 1)), data.draw(st.integers(0, 255))
    edited = line[:at] + bytes([byte]) + line[at + 1 :]
    if edited != line:
        assert _broken(_replaced(index + 1, edited)).line == index + 1


@pytest.mark.requirement("AUD-2")
@given(INNER)
def test_a_removed_line_is_found(index: int) -> None:
    found = _broken((*DOCUMENT[:index], *DOCUMENT[index + 1 :]))
    assert found.what in {Damage.MISSING, Damage.TRUNCATED}


@pytest.mark.requirement("AUD-2")
@given(INNER, INNER)
def test_a_line_that_comes_twice_is_found(source: int, target: int) -> None:
    assert isinstance(_verify((*DOCUMENT[:target], DOCUMENT[source], *DOCUMENT[target:])), Break)


@pytest.mark.requirement("AUD-2")
def test_a_record_that_was_moved_is_reordered_at_its_place() -> None:
    moved = (*DOCUMENT[:1], *DOCUMENT[2:4], DOCUMENT[1], *DOCUMENT[4:])
    found = _broken(moved)
    assert (found.what, found.chain, found.sequence, found.line) == (Damage.REORDERED, "a", 1, 3)


@pytest.mark.requirement("AUD-2")
@given(st.integers(0, len(DOCUMENT) - 1))
def test_a_document_that_was_cut_off_is_found(end: int) -> None:
    assert isinstance(_verify(DOCUMENT[:end]), Break)


@pytest.mark.requirement("AUD-2")
def test_an_earlier_whole_export_is_found_only_with_what_is_held_outside_and_this_is_said() -> None:
    earlier = export(LOG[:4])
    found = _verify(earlier)
    assert isinstance(found, Verified)
    assert "cut back to an earlier checkpoint" in " ".join(found.limits)
    assert _place(_verify(earlier, outside=(LAST.mark,))) == (Damage.TRUNCATED, None, 2)
    assert _place(_verify(earlier, outside=(LAST.heads[0],))) == (Damage.TRUNCATED, "a", 3)
    assert isinstance(_verify(DOCUMENT, outside=(FIRST.mark, LAST.mark, *FIRST.heads, *LAST.heads)), Verified)


@pytest.mark.requirement("AUD-2")
def test_an_export_of_another_key_is_forged() -> None:
    assert _place(verify_export(DOCUMENT, fingerprints=frozenset({"0" * 64}))) == (Damage.FORGED, None, 1)
    assert _place(_verify(export(build_log(private_key=bytes(32))))) == (Damage.FORGED, None, 1)


@pytest.mark.requirement("AUD-2")
def test_an_export_in_which_nothing_is_signed_is_not_accepted() -> None:
    unsigned = export([item for item in LOG if isinstance(item, Shown)])
    assert _place(_verify(unsigned)) == (Damage.FORGED, None, 0)


def test_an_export_may_begin_with_a_checkpoint_and_says_so() -> None:
    found = _verify(export(LOG[3:], since=1))
    assert isinstance(found, Verified)
    assert "before checkpoint 1 is not shown" in " ".join(found.limits)
    assert _place(_verify(export(LOG[3:]))) == (Damage.MISSING, "a", 1)


@pytest.mark.requirement("AUD-4")
@pytest.mark.parametrize(
    "payloads",
    [
        (("arguments", Kept(bytes(16), b"arguments 1 of a")),),
        (("arguments", Kept(A1.payloads[0][1].salt, b"other arguments")),),
        (("arguments", Kept(A1.payloads[0][1].salt[:-1], b"arguments 1 of a")),),
        (("result", A1.payloads[0][1]),),
    ],
)
def test_a_payload_that_was_not_committed_to_is_found(payloads: tuple[tuple[str, Kept], ...]) -> None:
    document = export([replace(A1, payloads=payloads), *LOG[1:]])
    assert _place(_verify(document)) == (Damage.EDITED, "a", 1)


def test_a_record_that_cannot_be_read_is_shown_by_hash_and_found() -> None:
    damaged = replace(A1, record=replace(A1.record, body=b"\xff\x00"))
    assert _place(_verify(export([damaged, *LOG[1:]]))) == (Damage.EDITED, "a", 1)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"not an entry", (Damage.MALFORMED, "a", 1)),
        (A1.record.body.replace(b'"sequence":1', b'"sequence":2'), (Damage.EDITED, "a", 1)),
        (A1.record.body.replace(b'"chain":"a"', b'"chain":"b"'), (Damage.EDITED, "a", 1)),
        (A1.record.body, None),
    ],
)
def test_a_record_that_links_but_does_not_say_where_it_stands_is_found(
    body: bytes, place: tuple[Damage, str, int] | None
) -> None:
    (record,) = extend(genesis("a"), bodies=[body])
    checkpoint = seal([record.head], after=BEGINNING, time_us=TIME_US)
    lines: list[Line] = [Header("acme", (KEY,), 0), Shown(record), checkpoint, Trailer(1, 1, 0)]
    assert _place(_verify([spell(line) for line in lines])) == place


def test_a_record_of_another_tenant_in_full_is_not_accepted() -> None:
    document = [DOCUMENT[0].replace(b"acme", b"globex"), *DOCUMENT[1:]]
    assert _place(_verify(document)) == (Damage.EDITED, "a", 1)


@given(st.lists(st.sampled_from(DOCUMENT) | st.binary(max_size=30), max_size=14))
def test_whatever_the_lines_hold_there_is_an_answer_and_no_exception(lines: list[bytes]) -> None:
    found = _verify(lines)
    assert isinstance(found, Break) == (tuple(lines) != DOCUMENT)


def _verify(lines: Sequence[bytes], *, outside: tuple[Head | Mark, ...] = ()) -> Verified | Break:
    return verify_export(lines, fingerprints=FINGERPRINTS, outside=outside)


def _broken(lines: Sequence[bytes]) -> Break:
    found = _verify(lines)
    assert isinstance(found, Break), found
    assert found.sentence
    return found


def _place(found: Verified | Break) -> tuple[Damage, str | None, int] | None:
    return (found.what, found.chain, found.sequence) if isinstance(found, Break) else None


def _replaced(number: int, line: bytes) -> list[bytes]:
    """The document with another line, split again as a file would be, so that an edited newline joins two lines."""
    return b"".join((*DOCUMENT[: number - 1], line, *DOCUMENT[number:])).splitlines(keepends=True)
