"""Any value that a handler may give back, as JSON bytes, or the reason why it is none."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from uuid import UUID

import orjson

from interlock.core.canonical import fitted
from interlock.core.frozen import frozen

BYTES_MAX = 16 * 1024 * 1024
"""The hard cap on one result; a tool's own limit is applied later, with a note of what was cut."""
DEPTH_MAX = 200


@frozen
class Unencodable:
    """Why a value cannot be shown, in words that hold nothing of the value."""

    reason: str


class _Refused(Exception):
    """Carries a reason out of the depth of a value."""


def encode(value: object) -> bytes | Unencodable:
    """JSON bytes. Total: NaN, cycles, foreign types, lone surrogates and over-long results are reasons, not exceptions.

    Dates are ISO 8601, decimals and UUIDs strings, bytes base64, sets sorted lists where they can be sorted.
    """
    try:
        data = _encoded(value)
    except _Refused as refused:
        return Unencodable(str(refused))
    except RecursionError:
        return Unencodable("it is nested too deeply, or contains itself")
    except Exception as fault:  # noqa: BLE001 - a value's own methods may raise anything
        return Unencodable(f"reading it raised {type(fault).__name__}")
    if len(data) > BYTES_MAX:
        return Unencodable(f"it is larger than {BYTES_MAX // 1024 // 1024} MB")
    return data


def _encoded(value: object) -> bytes:
    """The fast encoder's bytes, unless it refuses the value or may have written NaN as null."""
    try:
        data = orjson.dumps(value, default=_foreign)
    except orjson.JSONEncodeError:
        return _exact(value)
    return fitted(data) if value is None or data.find(b"null") < 0 or _is_finite(value) else _exact(value)


def _is_finite(value: object) -> bool:
    """Whether the null in its JSON is an honest one. False also where that cannot be said this fast."""
    try:
        json.dumps(value, allow_nan=False, default=_foreign)
    except (TypeError, ValueError):
        return False
    return True


def _exact(value: object) -> bytes:
    """The slow way: checks every float, keeps integers of any size."""
    text = json.dumps(_plain(value, 0), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _Refused("it contains a lone surrogate") from None


def _plain(value: object, depth: int) -> object:
    if depth > DEPTH_MAX:
        raise _Refused("it is nested too deeply, or contains itself")
    match value:
        case None | bool():
            return value
        case Enum():
            return _plain(value.value, depth + 1)
        case str():
            return str(value)
        case int():
            return int(value)
        case float():
            return _finite(value)
        case list() | tuple() if not hasattr(value, "_asdict"):
            return [_plain(each, depth + 1) for each in value]
        case Mapping():
            return _object(value, depth)
        case _:
            return _plain(_foreign(value), depth + 1)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise _Refused("it contains NaN or Infinity")
    return float(value)


def _object(value: Mapping[object, object], depth: int) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, each in value.items():
        name = _key(key)
        if name in found:
            raise _Refused("two of its keys are the same as text")
        found[name] = _plain(each, depth + 1)
    return found


def _key(key: object) -> str:
    if isinstance(key, Enum):
        key = key.value
    if isinstance(key, str):
        return str(key)
    if isinstance(key, int | UUID | date) and not isinstance(key, bool):
        return key.isoformat() if isinstance(key, date) else str(key)
    raise _Refused(f"it has a key of type {type(key).__name__}")


def _foreign(value: object) -> object:
    """The plain value that stands for one of a type that JSON does not know."""
    match value:
        case Decimal():
            if not value.is_finite():
                raise _Refused("it contains NaN or Infinity")
            return str(value)
        case AbstractSet():
            return _sorted(value)
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(bytes(value)).decode()
        case timedelta():
            return value.total_seconds()
        case PurePath() | UUID():
            return str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case Mapping():
            return dict(value)
        case _:
            return _dumped(value)


def _dumped(value: object) -> object:
    """Models, dataclasses and named tuples say themselves what they are."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json")
    named = getattr(value, "_asdict", None)
    if callable(named) and isinstance(value, tuple):
        return named()
    if isinstance(value, tuple | list):
        return list(value)
    raise _Refused(f"it contains a {type(value).__name__}")


def _sorted(values: AbstractSet[object]) -> list[object]:
    try:
        return sorted(values)  # type: ignore[type-var]
    except TypeError:
        return list(values)
