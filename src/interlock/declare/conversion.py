"""From a JSON value to what a parameter is annotated with: enums, dates, ids, dataclasses, models and lists of them."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Annotated, Any, Union, get_args, get_origin, is_typeddict
from uuid import UUID

from interlock.declare.hints import resolved

Conversion = Callable[[object], object]

_PARSED: Mapping[object, Conversion] = {
    datetime: lambda value: datetime.fromisoformat(str(value)),
    date: lambda value: date.fromisoformat(str(value)),
    time: lambda value: time.fromisoformat(str(value)),
    UUID: lambda value: UUID(str(value)),
    Decimal: lambda value: Decimal(str(value)),
}


def conversion(hint: object) -> Conversion | None:
    """How to convert, or None where a JSON value is what the hint means already."""
    origin = get_origin(hint)
    if origin is Annotated:
        return conversion(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return _optional(hint)
    if origin is not None:
        return _container(origin, get_args(hint))
    if hint in (set, frozenset, tuple):
        return hint  # type: ignore[return-value]
    if isinstance(hint, type):
        return _class(hint)
    return _PARSED.get(hint)


def _class(hint: type) -> Conversion | None:
    if hint in _PARSED:
        return _PARSED[hint]
    if issubclass(hint, Enum | PurePath):
        return hint
    if hasattr(hint, "model_validate"):
        return hint.model_validate  # type: ignore[no-any-return]
    if is_dataclass(hint):
        return lambda value: hint(**_members(hint, value))
    if is_typeddict(hint):
        return lambda value: _members(hint, value)
    return None


def _members(hint: type, value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError("not an object")
    wanted = _conversions(hint)
    return {str(name): _applied(wanted.get(name), each) for name, each in value.items()}


@cache
def _conversions(hint: type) -> Mapping[str, Conversion | None]:
    """Read when the first value is there, since a type may hold itself."""
    return {name: conversion(each) for name, each in resolved(hint).items()}


def _optional(hint: object) -> Conversion | None:
    """`T | None` converts as T does; among several types the first that takes the value wins."""
    found = [conversion(each) for each in get_args(hint) if each is not type(None)]
    wanted = [each for each in found if each is not None]
    if not wanted:
        return None
    if len(found) == 1:
        only = wanted[0]
        return lambda value: None if value is None else only(value)
    plain = len(wanted) < len(found)
    return lambda value: _first(value, wanted, plain=plain)


def _first(value: object, wanted: Sequence[Conversion], *, plain: bool) -> object:
    for convert in () if value is None else wanted:
        try:
            return convert(value)
        except (TypeError, ValueError, KeyError):
            continue
    if value is None or plain:
        return value
    raise ValueError("the value fits none of the annotated types")


def _container(origin: object, items: tuple[Any, ...]) -> Conversion | None:
    if origin in (set, frozenset, AbstractSet):
        make, item = (frozenset if origin is frozenset else set), conversion(items[0])
        return lambda value: make(_each(value, item))
    if origin is tuple:
        if len(items) == 2 and items[1] is Ellipsis:
            item = conversion(items[0])
            return lambda value: tuple(_each(value, item))
        inner = [conversion(each) for each in items]
        return lambda value: tuple(map(_applied, inner, _each(value, None)))
    if origin in (list, Sequence):
        item = conversion(items[0])
        return None if item is None else lambda value: _each(value, item)
    if origin in (dict, Mapping):
        item = conversion(items[1])
        return None if item is None else lambda value: _values(value, item)
    return None


def _each(value: object, convert: Conversion | None) -> list[object]:
    found = value if isinstance(value, list) else []
    return [_applied(convert, each) for each in found]


def _values(value: object, convert: Conversion) -> object:
    return {name: convert(each) for name, each in value.items()} if isinstance(value, Mapping) else value


def _applied(convert: Conversion | None, value: object) -> object:
    return value if convert is None else convert(value)
