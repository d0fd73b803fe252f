"""Columns of a batch as binary arrays for `unnest`: one parameter a column, of one type whatever is in it."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import chain
from typing import Final, cast

_HEAD: Final = struct.Struct(">iiIii")
_LENGTH: Final = struct.Struct(">i")
_BIGINT: Final = struct.Struct(">q")
_NO_DIMENSION: Final = struct.Struct(">iiI")
_EIGHT: Final = _LENGTH.pack(8)
_NULL: Final = _LENGTH.pack(-1)
_TRUE: Final = _LENGTH.pack(1) + b"\x01"
_FALSE: Final = _LENGTH.pack(1) + b"\x00"

_BOOL_OID, _BYTEA_OID, _BIGINT_OID, _TEXT_OID = 16, 17, 20, 25


def blobs(values: Iterable[bytes | None]) -> bytes:
    """Bytes, some of which may be missing."""
    return _sized_array(_BYTEA_OID, list(values))


def texts(values: Iterable[str | None]) -> bytes:
    """Texts, some of which may be missing. A text that UTF-8 cannot spell raises `UnicodeEncodeError`."""
    given = list(values)
    if None in given:
        return _sized_array(_TEXT_OID, [None if value is None else value.encode() for value in given])
    return _sized_array(_TEXT_OID, list(map(str.encode, cast("list[str]", given))))


def bigints(values: Iterable[int | None]) -> bytes:
    """Whole numbers, some of which may be missing; one that is too big raises `struct.error`."""
    given = list(values)
    if None in given:
        return _array(_BIGINT_OID, [_NULL if value is None else _EIGHT + _BIGINT.pack(value) for value in given])
    return _array(_BIGINT_OID, list(map(_EIGHT.__add__, map(_BIGINT.pack, cast("list[int]", given)))))


def bools(values: Iterable[bool]) -> bytes:
    """Truth values."""
    return _array(_BOOL_OID, [_TRUE if value else _FALSE for value in values])


def _sized_array(oid: int, values: list[bytes | None]) -> bytes:
    """Each after its size. In most columns nothing is missing, and no step of that is Python's own."""
    if None in values:
        return _array(oid, [_NULL if value is None else _LENGTH.pack(len(value)) + value for value in values])
    there = cast("list[bytes]", values)
    return _array(
        oid, list(chain.from_iterable(zip(map(_LENGTH.pack, map(len, there)), there, strict=True))), len(there)
    )


def _array(oid: int, parts: list[bytes], count: int | None = None) -> bytes:
    """One dimension that counts from 1; an empty array has none."""
    if not parts:
        return _NO_DIMENSION.pack(0, 0, oid)
    return _HEAD.pack(1, 1, oid, len(parts) if count is None else count, 1) + b"".join(parts)
