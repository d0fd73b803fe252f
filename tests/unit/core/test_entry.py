"""Building an event: one complete record, commitments to what is kept, and nothing that can be guessed."""

import orjson
import pytest

from interlock.core.chain import commitment
from interlock.core.entry import SUMMARY_BYTES_MAX, TenantKey, event, fragment
from interlock.core.journal import Event, EventKind

KEY = TenantKey.derive(b"m" * 32, "acme")
RANDOM = bytes(range(80))
RECORD = {"call_id": "c1", "subject": "op1", "tool": "save_draft", "principal": "alice"}


def made(record: dict[str, object] | None = None, *kept: tuple[str, bytes]) -> Event:
    return event(EventKind.SETTLED, RECORD if record is None else record, stamp=(KEY, 5, RANDOM), kept=kept)


@pytest.mark.requirement("AUD-1")
def test_the_record_is_kept_whole_and_found_by_its_call_and_subject() -> None:
    found = made()
    assert orjson.loads(found.payloads[0].data) == RECORD
    assert (found.kind, found.tenant, found.at_us) == (EventKind.SETTLED, "acme", 5)
    assert (found.call, found.subject) == ("c1", "op1")


@pytest.mark.requirement("AUD-1")
def test_everything_that_is_kept_is_committed_to_with_a_salt_of_its_own() -> None:
    found = made(None, ("arguments", b'{"a":1}'), ("result", b"2"))
    assert [each.name for each in found.payloads] == ["record", "arguments", "result"]
    assert len({each.salt for each in found.payloads} | {bytes.fromhex(found.nonce)}) == 4
    assert all(len(each.salt) == 16 for each in found.payloads)
    assert dict(found.commitments) == {each.name: commitment(each.salt, payload=each.data) for each in found.payloads}
    assert list(found.commitments) == sorted(found.commitments)


@pytest.mark.requirement("AUD-1")
def test_the_chain_holds_no_name_and_no_digest_that_can_be_guessed() -> None:
    body = made(None, ("arguments", b"1")).body("chain", 1)
    assert not [word for word in (b"acme", b"alice", b"op1", b"save_draft") if word in body]
    assert dict(made().ids) == {"subject": KEY.keyed("op1")}
    other = TenantKey.derive(b"m" * 32, "globex")
    assert len({KEY.keyed("1"), other.keyed("1"), TenantKey.derive(b"n" * 32, "acme").keyed("1")}) == 3
    assert KEY.mark != other.mark
    assert KEY.keyed("1") == KEY.keyed(b"1") == TenantKey.derive(b"m" * 32, "acme").keyed("1")


def test_keyed_ids_do_not_change_between_versions_of_interlock() -> None:
    assert (KEY.mark, KEY.keyed("1")) == ("db0a8a9e0b2a3330e205088630dacb86", "fe125e906310493fe3031c4a7ec06613")


@pytest.mark.parametrize("record", [{}, {"subject": None}, {"subject": ""}])
def test_an_event_about_nothing_has_no_id_in_the_chain(record: dict[str, object]) -> None:
    found = made(record)
    assert (found.ids, found.subject, found.call) == ((), "", "")


@pytest.mark.requirement("AUD-1")
def test_a_short_value_stands_in_the_record_and_a_long_one_as_size_and_keyed_digest() -> None:
    short = fragment(b'{"a":1}', b'{"a":1}', KEY)
    assert orjson.dumps({"arguments": short}) == b'{"arguments":{"a":1}}'
    redacted = b'"' + b"x" * SUMMARY_BYTES_MAX + b'"'
    assert fragment(redacted, b"whole", KEY) == {
        "bytes": 5,
        "digest": KEY.keyed(b"whole"),
        "head": redacted[:256].decode(),
    }
