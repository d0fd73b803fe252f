"""Reads frozen dataclasses back from the JSON that `spec_to_json` wrote, checking every value against its type.

What there is to know of a type is worked out once, as a function that reads its values: stores are read back whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import IntEnum, StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

from interlock.core.canonical import Json
from interlock.core.tool import Document

T = TypeVar("T")
Reader = Callable[[Json], object]


def from_json(kind: type[T], value: Json) -> T:
    """The value of type `kind`; absent fields take their defaults. Raises `ValueError` where it does not fit."""
    read = _reader(kind)(value)
    if isinstance(read, kind):
        return read
    raise ValueError(f"expected {kind.__name__}")


def _reader(kind: object) -> Reader:
    """What reads values of a type. A type that nothing reads is a fault of ours once there is a value of it.

    It is kept for the fields of a class alone: `A | B` and `B | A` are equal, and are not tried in the same order.
    """
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _one_of(get_args(kind))
    if origin is not None:
        return _container(origin, get_args(kind))
    if kind is Document:
        return Document.of
    return _plain(kind) if isinstance(kind, type) else _none_of(kind)


def _none_of(kind: object) -> Reader:
    def read(_: Json) -> object:
        raise TypeError(f"cannot read a {kind}")

    return read


def _one_of(kinds: tuple[object, ...]) -> Reader:
    readers, takes_none = [_reader(kind) for kind in kinds if kind is not NoneType], NoneType in kinds

    def read(value: Json) -> object:
        if value is None and takes_none:
            return None
        for each in readers:
            try:
                return each(value)
            except ValueError:
                continue
        raise ValueError("the value fits none of its types")

    return read


def _container(origin: object, of: tuple[object, ...]) -> Reader:
    readers = [_reader(kind) for kind in of if kind is not Ellipsis]
    made: Callable[[list[Json]], object] | None = None
    if origin is tuple and len(of) == 2 and of[1] is Ellipsis:
        made = _all_of(tuple, readers[0])
    elif origin is tuple:
        made = _each_of(readers)
    elif origin is Sequence:
        made = _all_of(tuple, readers[0])
    elif origin is frozenset:
        made = _all_of(frozenset, readers[0])
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(origin, readers[1])

    def read(value: Json) -> object:
        if made is None or not isinstance(value, list):
            raise ValueError(f"expected {origin}")
        return made(value)

    return read


def _all_of(kind: Callable[[list[object]], object], reader: Reader) -> Callable[[list[Json]], object]:
    return lambda value: kind([reader(item) for item in value])


def _each_of(readers: Sequence[Reader]) -> Callable[[list[Json]], object]:
    return lambda value: tuple(reader(item) for reader, item in zip(readers, value, strict=True))


def _mapping(origin: object, reader: Reader) -> Reader:
    def read(value: Json) -> object:
        if isinstance(value, dict):
            return {name: reader(item) for name, item in value.items()}
        raise ValueError(f"expected {origin}")

    return read


def _plain(kind: type) -> Reader:
    if is_dataclass(kind):
        return _dataclass(kind)
    if issubclass(kind, StrEnum):
        return _text_member(kind)
    return _number_member(kind) if issubclass(kind, IntEnum) else _scalar(kind)


def _text_member(kind: type[StrEnum]) -> Reader:
    def read(value: Json) -> object:
        if isinstance(value, str):
            return kind(value)
        raise ValueError(f"expected {kind.__name__}")

    return read


def _number_member(kind: type[IntEnum]) -> Reader:
    def read(value: Json) -> object:
        if isinstance(value, str) and value.upper() in kind.__members__:
            return kind[value.upper()]
        raise ValueError(f"expected {kind.__name__}")

    return read


def _scalar(kind: type) -> Reader:
    is_read = kind in (str, int, float, bool)

    def read(value: Json) -> object:
        if is_read and type(value) is kind:
            return value
        raise ValueError(f"expected {kind.__name__}")

    return read


def _dataclass(kind: type) -> Reader:
    def read(value: Json) -> object:
        if isinstance(value, dict):
            return _made(kind, value)
        raise ValueError(f"expected {kind.__name__}")

    return read


def _made(kind: type, value: dict[str, Json]) -> object:
    readers = _readers(kind)
    if not value.keys() <= readers.keys():
        raise ValueError(f"{kind.__name__} has no {min(value.keys() - readers.keys())}")
    read = {name: readers[name](each) for name, each in value.items()}
    try:
        return kind(**read)
    except TypeError as missing:
        raise ValueError(f"{kind.__name__} lacks a field") from missing


@cache
def _readers(kind: type) -> dict[str, Reader]:
    """What reads each field of a class; asked for once there is a value, since a class may hold values of its own."""
    hints = get_type_hints(kind)
    return {each.name: _reader(hints[each.name]) for each in fields(kind)}
