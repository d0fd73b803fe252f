"""Spells an exported log as lines of JSON, one way each: a line that would be written differently is not read.

{"header": {format, tenant, keys (raw public keys, hex), since (checkpoint it begins with, 0: whole)}}
{"record": {chain, sequence, hash, body (text), payloads: {name: {salt (hex), payload (base64)}}}}
{"record": {chain, sequence, hash, body_hash}}                    another tenant's: its hash keeps the chain linked
{"checkpoint": {number, time_us, heads: [[chain, sequence, hash], ...], root, previous, key, signature}}
{"trailer": {records, checkpoints, payloads}}
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable
from typing import Final, TypeAlias

import orjson

from interlock.core.chain import Head, Record, Veiled
from interlock.core.checkpoint import Checkpoint
from interlock.core.frozen import frozen

FORMAT: Final = "interlock/1 audit export"
LINE_BYTES_MAX: Final = 64 * 1024 * 1024


@frozen
class Kept:
    """A payload that retention has not deleted yet, with the salt of its commitment."""

    salt: bytes
    payload: bytes


@frozen
class Shown:
    """A record with those of its payloads that are kept, as pairs of the commitment's name and the payload."""

    record: Record
    payloads: tuple[tuple[str, Kept], ...] = ()


@frozen
class Header:
    tenant: str
    keys: tuple[bytes, ...]
    since: int


@frozen
class Trailer:
    records: int
    checkpoints: int
    payloads: int


Line: TypeAlias = Header | Shown | Veiled | Checkpoint | Trailer


def spell(line: Line) -> bytes:
    return orjson.dumps(_value(line), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def read(data: bytes) -> Line | None:
    """What the line says, or None where these are not exactly the bytes that `spell` would give for it."""
    if len(data) > LINE_BYTES_MAX:
        return None
    try:
        line = _line(orjson.loads(data))
        return line if line is not None and spell(line) == data else None
    except (ValueError, TypeError, NotBase64):
        # orjson's errors, hex and base64 that are none, numbers beyond 64 bits: all say that this is no line of ours.
        return None


def _value(line: Line) -> dict[str, object]:
    match line:
        case Shown():
            return {"record": _shown(line)}
        case Veiled():
            place = {"chain": line.chain, "sequence": line.sequence, "hash": line.hash}
            return {"record": {**place, "body_hash": line.body_digest.hex()}}
        case Checkpoint():
            return {"checkpoint": _checkpoint(line)}
        case Header():
            keys = [key.hex() for key in line.keys]
            return {"header": {"format": FORMAT, "tenant": line.tenant, "keys": keys, "since": line.since}}
        case Trailer():
            counts = {"records": line.records, "checkpoints": line.checkpoints, "payloads": line.payloads}
            return {"trailer": counts}


def _shown(line: Shown) -> dict[str, object]:
    record = line.record
    return {
        "chain": record.chain,
        "sequence": record.sequence,
        "hash": record.hash,
        "body": record.body.decode(),
        "payloads": {
            name: {"salt": kept.salt.hex(), "payload": b64encode(kept.payload).decode()} for name, kept in line.payloads
        },
    }


def _checkpoint(line: Checkpoint) -> dict[str, object]:
    return {
        "number": line.number,
        "time_us": line.time_us,
        "heads": _heads(line.heads),
        "root": line.root,
        "previous": line.previous,
        "key": line.key_fingerprint,
        "signature": line.signature.hex(),
    }


def _heads(heads: Iterable[Head]) -> list[tuple[str, int, str]]:
    return [(head.chain, head.sequence, head.hash) for head in heads]


def _line(value: object) -> Line | None:
    """`int()` because True is an int that would be spelled `true` again."""
    match value:
        case {"record": {"chain": str(chain), "sequence": int(sequence), "hash": str(hash_), **rest}}:
            return _record(chain, sequence=int(sequence), hash_=hash_, rest=rest)
        case {"checkpoint": dict(fields)}:
            return _checkpoint_of(fields)
        case {"header": {"tenant": str(tenant), "keys": list(keys), "since": int(since)}} if since >= 0:
            return Header(tenant, tuple(map(bytes.fromhex, keys)), int(since))
        case {"trailer": {"records": int(records), "checkpoints": int(checkpoints), "payloads": int(payloads)}}:
            return Trailer(int(records), int(checkpoints), int(payloads))
        case _:
            return None


def _record(chain: str, *, sequence: int, hash_: str, rest: dict[object, object]) -> Shown | Veiled | None:
    match rest:
        case {"body": str(body), "payloads": dict(payloads)}:
            kept = tuple((name, _kept(value)) for name, value in payloads.items())
            return Shown(Record(chain, sequence, hash_, body.encode()), kept)
        case {"body_hash": str(body_hash)}:
            return Veiled(chain, sequence, hash_, bytes.fromhex(body_hash))
        case _:
            return None


def _kept(value: object) -> Kept:
    match value:
        case {"salt": str(salt), "payload": str(payload)}:
            return Kept(bytes.fromhex(salt), b64decode(payload, validate=True))
        case _:
            raise ValueError("not a payload")


def _checkpoint_of(fields: dict[str, object]) -> Checkpoint | None:
    match fields:
        case {
            "number": int(number),
            "time_us": int(time_us),
            "heads": list(heads),
            "root": str(root),
            "previous": str(previous),
            "key": str(key),
            "signature": str(signature),
        }:
            of = tuple(map(_head_of, heads))
            return Checkpoint(int(number), int(time_us), of, root, previous, key, bytes.fromhex(signature))
        case _:
            return None


def _head_of(value: object) -> Head:
    match value:
        case [str(chain), int(sequence), str(hash_)]:
            return Head(chain, int(sequence), hash_)
        case _:
            raise ValueError("not a head")
