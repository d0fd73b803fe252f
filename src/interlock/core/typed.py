"""Reads frozen dataclasses back from the JSON that `spec_to_json` wrote, checking every value against its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import IntEnum, StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

from interlock.core.canonical import Json
from interlock.core.tool import Document

T = TypeVar("T")


def from_json(kind: type[T], value: Json) -> T:
    """The value of type `kind`; absent fields take their defaults. Raises `ValueError` where it does not fit."""
    read = _read(kind, value)
    if isinstance(read, kind):
        return read
    raise ValueError(f"expected {kind.__name__}")


def _read(kind: object, value: Json) -> object:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _one_of(get_args(kind), value)
    if origin is not None:
        return _container(origin, get_args(kind), value)
    if kind is Document:
        return Document.of(value)
    if isinstance(kind, type):
        return _plain(kind, value)
    raise TypeError(f"cannot read a {kind}")


def _one_of(kinds: tuple[object, ...], value: Json) -> object:
    if value is None and NoneType in kinds:
        return None
    for kind in kinds:
        try:
            return _read(kind, value)
        except ValueError:
            continue
    raise ValueError("the value fits none of its types")


def _container(origin: object, of: tuple[object, ...], value: Json) -> object:
    if origin is tuple and isinstance(value, list):
        each = of[0] if len(of) == 2 and of[1] is Ellipsis else None
        if each is not None:
            return tuple(_read(each, item) for item in value)
        return tuple(_read(kind, item) for kind, item in zip(of, value, strict=True))
    if origin is Sequence and isinstance(value, list):
        return tuple(_read(of[0], item) for item in value)
    if origin is frozenset and isinstance(value, list):
        return frozenset(_read(of[0], item) for item in value)
    if isinstance(origin, type) and issubclass(origin, Mapping) and isinstance(value, dict):
        return {name: _read(of[1], item) for name, item in value.items()}
    raise ValueError(f"expected {origin}")


def _plain(kind: type, value: Json) -> object:
    if is_dataclass(kind) and isinstance(value, dict):
        return _dataclass(kind, value)
    if issubclass(kind, StrEnum) and isinstance(value, str):
        return kind(value)
    if issubclass(kind, IntEnum) and isinstance(value, str) and value.upper() in kind.__members__:
        return kind[value.upper()]
    if kind in (str, int, float, bool) and type(value) is kind:
        return value
    raise ValueError(f"expected {kind.__name__}")


def _dataclass(kind: type, value: dict[str, Json]) -> object:
    hints = _hints(kind)
    unknown = sorted(value.keys() - hints.keys())
    if unknown:
        raise ValueError(f"{kind.__name__} has no {unknown[0]}")
    read = {name: _read(hints[name], each) for name, each in value.items()}
    try:
        return kind(**read)
    except TypeError as missing:
        raise ValueError(f"{kind.__name__} lacks a field") from missing


@cache
def _hints(kind: type) -> dict[str, object]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}
