"""Columns of a batch as binary arrays for `unnest`: one parameter a column, of one type whatever is in it."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

_HEAD: Final = struct.Struct(">iiIii")
_LENGTH: Final = struct.Struct(">i")
_BIGINT: Final = struct.Struct(">iq")
_NULL: Final = _LENGTH.pack(-1)
_TRUE: Final = _LENGTH.pack(1) + b"\x01"
_FALSE: Final = _LENGTH.pack(1) + b"\x00"

_BOOL_OID, _BYTEA_OID, _BIGINT_OID, _TEXT_OID = 16, 17, 20, 25


def blobs(values: Iterable[bytes | None]) -> bytes:
    """Bytes, some of which may be missing."""
    return _array(_BYTEA_OID, [_sized(value) for value in values])


def texts(values: Iterable[str | None]) -> bytes:
    """Texts, some of which may be missing. A text that UTF-8 cannot spell raises `UnicodeEncodeError`."""
    return _array(_TEXT_OID, [_sized(None if value is None else value.encode()) for value in values])


def bigints(values: Iterable[int | None]) -> bytes:
    """Whole numbers, some of which may be missing; one that is too big raises `struct.error`."""
    return _array(_BIGINT_OID, [_NULL if value is None else _BIGINT.pack(8, value) for value in values])


def bools(values: Iterable[bool]) -> bytes:
    """Truth values."""
    return _array(_BOOL_OID, [_TRUE if value else _FALSE for value in values])


def _sized(value: bytes | None) -> bytes:
    return _NULL if value is None else _LENGTH.pack(len(value)) + value


def _array(oid: int, parts: list[bytes]) -> bytes:
    """One dimension that counts from 1; an empty array has none."""
    if not parts:
        return struct.pack(">iiI", 0, 0, oid)
    return _HEAD.pack(1, 1, oid, len(parts), 1) + b"".join(parts)
