"""Says what one audit record holds, as the bytes that its chain hashes."""

from collections.abc import Mapping
from typing import Final

import orjson

from interlock.core.canonical import fitted
from interlock.core.frozen import frozen

NONCE_BYTES_MIN: Final = 16

_FIELDS: Final[Mapping[str, type]] = {
    "chain": str,
    "commitments": dict,
    "ids": dict,
    "kind": str,
    "nonce": str,
    "sequence": int,
    "tenant": str,
    "time_us": int,
}

_TYPES: Final = tuple(_FIELDS.values())
_TEXT: Final = frozenset({str})


@frozen
class AuditEntry:
    """A record's body: where it stands, what happened when, to which ids, and commitments to its payloads.

    `tenant` and the values of `ids` are keyed per tenant by the caller. `nonce` is random hex: an export for one tenant
    shows the hash of another's body, and a body without it could be guessed. `ids` and `commitments` are pairs of name
    and value, sorted by name.
    """

    chain: str
    sequence: int
    time_us: int
    tenant: str
    kind: str
    nonce: str
    ids: tuple[tuple[str, str], ...] = ()
    commitments: tuple[tuple[str, str], ...] = ()


def encode_entry(entry: AuditEntry) -> bytes:
    """The entry as JSON with sorted keys and no spaces; the bytes to store and to hash."""
    return encode_fields(_fields(entry), nonce=entry.nonce)


def encode_fields(fields: dict[str, object], *, nonce: str) -> bytes:
    """The same of an entry's fields, for what every call writes."""
    if len(nonce) < 2 * NONCE_BYTES_MIN:
        raise ValueError(f"a nonce holds at least {NONCE_BYTES_MIN} random bytes in hex")
    return fitted(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS))


def decode_entry(body: bytes) -> AuditEntry | None:
    """The entry that is written as exactly these bytes, or None where they are anything else."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    # Written anew from what was read, it is the same only where it was written as entries are.
    return _entry(value) if orjson.dumps(value, option=orjson.OPT_SORT_KEYS) == body else None


def _fields(entry: AuditEntry) -> dict[str, object]:
    return {
        "chain": entry.chain,
        "commitments": dict(entry.commitments),
        "ids": dict(entry.ids),
        "kind": entry.kind,
        "nonce": entry.nonce,
        "sequence": entry.sequence,
        "tenant": entry.tenant,
        "time_us": entry.time_us,
    }


def _entry(value: object) -> AuditEntry | None:
    """Checks by hand: a mapping pattern of eight keys took longer than all else that an export does to a record."""
    if type(value) is not dict or value.keys() != _FIELDS.keys():
        return None
    if tuple(map(type, map(value.__getitem__, _FIELDS))) != _TYPES:
        return None
    ids, commitments = value["ids"], value["commitments"]
    if not _TEXT.issuperset(map(type, ids.values())) or not _TEXT.issuperset(map(type, commitments.values())):
        return None
    return AuditEntry(
        value["chain"],
        value["sequence"],
        value["time_us"],
        value["tenant"],
        value["kind"],
        value["nonce"],
        tuple(ids.items()),
        tuple(commitments.items()),
    )
