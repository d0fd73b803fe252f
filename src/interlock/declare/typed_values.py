"""Plain data, or Python values, as a given type: unknown keys are refused with the nearest known one, others by place.

A text stands for the member of an enum that it names, a list for a tuple or set, a mapping for a dataclass.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum, IntEnum
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from interlock.core.canonical import Json
from interlock.core.catalogue import nearest
from interlock.core.errors import SpecInvalid
from interlock.core.tool import Document

_SCALARS = {str: "text", int: "a whole number", bool: "true or false", float: "a number"}
_ORDERED: tuple[type[Collection[object]], ...] = (list, tuple)
_COLLECTIONS: tuple[type[Collection[object]], ...] = (*_ORDERED, set, frozenset)


def typed(value: object, hint: Any, *, path: str) -> Any:
    """The value as `hint` says. Raises `SpecInvalid` naming the place."""
    origin, items = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        return _optional(value, items, path=path)
    if origin in (tuple, frozenset):
        found = _list(value, path, kinds=_ORDERED if origin is tuple else _COLLECTIONS)
        return origin(typed(each, items[0], path=f"{path}[{at}]") for at, each in enumerate(found))
    if origin is not None and issubclass(origin, Mapping):
        return {str(name): typed(each, items[1], path=f"{path}.{name}") for name, each in _map(value, path).items()}
    if hint is Document:
        return value if isinstance(value, Document) else Document.of(cast(Json, value))
    if is_dataclass(hint):
        return instance(value, cast(type, hint), path=path)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _member(value, hint, path=path)
    return _scalar(value, hint, path=path)


def instance(value: object, hint: type, *, path: str) -> Any:
    """A dataclass from a mapping of its fields, or from an instance whose fields fit."""
    hints, names = _hints(hint), [each.name for each in fields(hint)]
    if isinstance(value, hint):
        held = {name: getattr(value, name) for name in names}
        fitted = {name: typed(held[name], hints[name], path=f"{path}.{name}") for name in names}
        return hint(**fitted)
    given = _map(value, path, kind=hint.__name__)
    check_keys(given, names, path=path)
    for each in fields(hint):
        if each.name not in given and each.default is MISSING and each.default_factory is MISSING:
            raise SpecInvalid(f"{path}: {each.name} is missing")
    return hint(**{name: typed(each, hints[name], path=f"{path}.{name}") for name, each in given.items()})


@cache
def _hints(hint: type) -> dict[str, Any]:
    """Reading them from their texts costs more than all the rest."""
    return get_type_hints(hint)


def check_keys(given: Mapping[str, object], known: Iterable[str], *, path: str) -> None:
    """Refuse a key that nothing reads."""
    for name in given:
        if name not in known:
            close = nearest(str(name), known)
            raise SpecInvalid(f"{path}: there is no {name!r}" + (f"; is it {close[0]!r}?" if close else ""))


def _optional(value: object, items: tuple[Any, ...], *, path: str) -> Any:
    wanted = [each for each in items if each is not type(None)]
    return None if value is None and len(wanted) < len(items) else typed(value, wanted[0], path=path)


def _member(value: object, hint: type[Enum], *, path: str) -> Enum:
    """Enums are written as they are stored: text by value, ranks by name."""
    if isinstance(value, hint):
        return value
    names = {each.name.lower() if issubclass(hint, IntEnum) else str(each.value): each for each in hint}
    if not isinstance(value, str) or value not in names:
        raise SpecInvalid(f"{path}: it must be one of {', '.join(names)}")
    return names[value]


def _scalar(value: object, hint: type, *, path: str) -> object:
    if type(value) is hint or (hint is float and type(value) is int):
        return value
    if hint is str and isinstance(value, str):
        return str.__str__(value)
    raise SpecInvalid(f"{path}: it must be {_SCALARS.get(hint, hint.__name__)}")


def _list(value: object, path: str, *, kinds: tuple[type[Collection[object]], ...]) -> Collection[object]:
    """A single text is no list of its letters, and what has no order makes no list."""
    if not isinstance(value, kinds):
        raise SpecInvalid(f"{path}: it must be a list")
    return value


def _map(value: object, path: str, *, kind: str = "") -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        wanted = f"{kind} or a mapping" if kind else "a mapping of names to values"
        raise SpecInvalid(f"{path}: it must be {wanted}")
    return value
