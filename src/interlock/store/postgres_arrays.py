"""Columns of a batch as binary arrays for `unnest`: one parameter a column, of one type whatever is in it."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

from psycopg import pq
from psycopg.adapt import AdaptersMap, Dumper

_HEAD: Final = struct.Struct(">iiIii")
_LENGTH: Final = struct.Struct(">i")
_BIGINT: Final = struct.Struct(">iq")
_NULL: Final = _LENGTH.pack(-1)
_TRUE: Final = _LENGTH.pack(1) + b"\x01"
_FALSE: Final = _LENGTH.pack(1) + b"\x00"

_BOOL_OID, _BYTEA_OID, _BIGINT_OID, _TEXT_OID = 16, 17, 20, 25


class Column:
    """An array in the form in which it travels. Its subclasses are the types that there are."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class Bytes(Column):
    """Of `bytea`."""


class Texts(Column):
    """Of `text`."""


class Bigints(Column):
    """Of `bigint`."""


class Bools(Column):
    """Of `boolean`."""


def blobs(values: Iterable[bytes | None]) -> Bytes:
    """Bytes, some of which may be missing."""
    return Bytes(_array(_BYTEA_OID, [_sized(value) for value in values]))


def texts(values: Iterable[str | None]) -> Texts:
    """Texts, some of which may be missing. A text that UTF-8 cannot spell raises `UnicodeEncodeError`."""
    return Texts(_array(_TEXT_OID, [_sized(None if value is None else value.encode()) for value in values]))


def bigints(values: Iterable[int | None]) -> Bigints:
    """Whole numbers, some of which may be missing; one that is too big raises `struct.error`."""
    return Bigints(_array(_BIGINT_OID, [_NULL if value is None else _BIGINT.pack(8, value) for value in values]))


def bools(values: Iterable[bool]) -> Bools:
    """Truth values."""
    return Bools(_array(_BOOL_OID, [_TRUE if value else _FALSE for value in values]))


def register(adapters: AdaptersMap) -> None:
    """Have a connection send columns as they are."""
    for dumper in (_BytesDumper, _TextsDumper, _BigintsDumper, _BoolsDumper):
        adapters.register_dumper(dumper.of, dumper)


class _ColumnDumper(Dumper):
    format = pq.Format.BINARY
    of: type[Column]

    def dump(self, obj: Column) -> bytes:
        return obj.data


class _BytesDumper(_ColumnDumper):
    of, oid = Bytes, 1001


class _TextsDumper(_ColumnDumper):
    of, oid = Texts, 1009


class _BigintsDumper(_ColumnDumper):
    of, oid = Bigints, 1016


class _BoolsDumper(_ColumnDumper):
    of, oid = Bools, 1000


def _sized(value: bytes | None) -> bytes:
    return _NULL if value is None else _LENGTH.pack(len(value)) + value


def _array(oid: int, parts: list[bytes]) -> bytes:
    """One dimension that counts from 1; an empty array has none."""
    if not parts:
        return struct.pack(">iiI", 0, 0, oid)
    return _HEAD.pack(1, 1, oid, len(parts), 1) + b"".join(parts)
