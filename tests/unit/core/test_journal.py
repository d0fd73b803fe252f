"""Events of the journal as the chain sees them."""

import orjson

from interlock.core.audit_entry import AuditEntry, decode_entry
from interlock.core.journal import Event, EventKind, Payload

EVENT = Event(
    kind=EventKind.REFUSED,
    tenant="acme",
    at_us=5,
    tenant_mark="mark",
    nonce="00" * 16,
    ids=(("subject", "ab"),),
    commitments=(("record", "cd" * 32),),
    payloads=(Payload("record", b"s" * 16, b'{"tool":"save_draft"}'),),
    call="c1",
    subject="op1",
)


def test_the_chain_hashes_ids_and_commitments_and_nothing_that_was_kept() -> None:
    body = EVENT.body("chain-1", 7)
    assert decode_entry(body) == AuditEntry(
        "chain-1", 7, 5, "mark", "call.refused", "00" * 16, (("subject", "ab"),), (("record", "cd" * 32),)
    )
    assert not [word for word in (b"acme", b"save_draft", b"op1", b"c1") if word in body]


def test_the_place_in_the_chain_is_part_of_what_is_hashed() -> None:
    assert len({EVENT.body("chain-1", 7), EVENT.body("chain-1", 8), EVENT.body("chain-2", 7)}) == 3
    assert orjson.loads(EVENT.body("chain-1", 7))


def test_kinds_of_events_are_words_of_their_own() -> None:
    assert len({kind.value for kind in EventKind}) == len(EventKind)
    assert all("." in kind.value for kind in EventKind)
