"""Builds journal events: the complete redacted record, commitments to what is kept whole, and keyed ids for the chain.

A digest of a small value can be guessed; ids and digests that leave the sealed store are therefore keyed per tenant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from hashlib import blake2b

import orjson

from interlock.core.canonical import Json, fitted
from interlock.core.chain import commitment
from interlock.core.frozen import frozen
from interlock.core.journal import RECORD, Event, EventKind, Payload

Kept = tuple[tuple[str, bytes], ...]
"""What is kept whole beside a record, by name."""

SALT_BYTES = 16
SUMMARY_BYTES_MAX = 2_048


@frozen
class TenantKey:
    """The secret that keys one tenant's ids and digests; 32 bytes, derived from the installation's key."""

    tenant: str
    mark: str
    _keyed: blake2b = field(repr=False, compare=False)

    @staticmethod
    def derive(master: bytes, tenant: str) -> TenantKey:
        """The key of a tenant. `mark` is the tenant as the chain may show it."""
        secret = blake2b(tenant.encode(), key=master, digest_size=32, person=b"il-tenant").digest()
        keyed = blake2b(key=secret, digest_size=16)
        return TenantKey(tenant, blake2b(b"mark", key=secret, digest_size=16).hexdigest(), keyed)

    def keyed(self, value: str | bytes) -> str:
        """A keyed digest (32 hex characters) that says nothing to who lacks the key."""
        digest = self._keyed.copy()
        digest.update(value.encode() if isinstance(value, str) else value)
        return digest.hexdigest()


Stamp = tuple[TenantKey, int, bytes]
"""What an event gets from outside: whose it is, when, and random bytes: 16 for the nonce and for each payload."""


def event(kind: EventKind, record: Mapping[str, object], *, stamp: Stamp, kept: Kept = ()) -> Event:
    """An event ready for a chain. `record` is what may be shown, `kept` what is kept whole beside it.

    The record's `call_id` and `subject` become indexes, its `subject` also a keyed id in the chain.
    """
    subject = record.get("subject")
    about = (str(record.get("call_id", "")), subject if isinstance(subject, str) else "")
    return event_of(kind, fitted(orjson.dumps(record)), about=about, stamp=stamp, kept=kept)


def event_of(kind: EventKind, record: bytes, *, about: tuple[str, str], stamp: Stamp, kept: Kept = ()) -> Event:
    """The same with a record that is JSON already; `about` are its `call_id` and its `subject`."""
    (key, at_us, random), (call, subject) = stamp, about
    salt = random[16:32]
    payloads: tuple[Payload, ...] = (Payload(RECORD, salt, record),)
    commitments: tuple[tuple[str, str], ...] = ((RECORD, commitment(salt, payload=record)),)
    if kept:
        payloads = (*payloads, *_beside(kept, random))
        commitments = tuple(sorted([(each.name, commitment(each.salt, payload=each.data)) for each in payloads]))
    return Event(
        kind,
        key.tenant,
        at_us,
        key.mark,
        random[:16].hex(),
        (("subject", key.keyed(subject)),) if subject else (),
        commitments,
        payloads,
        call,
        subject,
    )


def _beside(kept: Kept, random: bytes) -> Iterator[Payload]:
    for index, (name, data) in enumerate(kept):
        start = 32 + index * SALT_BYTES
        yield Payload(name, random[start : start + SALT_BYTES], data)


def fragment(redacted: bytes, whole: bytes, key: TenantKey) -> object:
    """Redacted JSON for a record: itself while it is short, else its size and keyed digest."""
    if len(redacted) <= SUMMARY_BYTES_MAX:
        return orjson.Fragment(redacted)
    head = redacted[:256].decode("utf-8", "ignore")
    summary: dict[str, Json] = {"bytes": len(whole), "digest": key.keyed(whole), "head": head}
    return summary
