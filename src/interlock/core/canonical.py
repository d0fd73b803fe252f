"""The one byte form of a JSON value: what is hashed, stored, compared and authorized.

RFC 8785 (JSON Canonicalization Scheme) with one difference: an `int` is written with all of its digits, where the RFC
goes through a double and corrupts identifiers past 2^53. Floats follow the RFC (shortest digits, ECMAScript notation).

Equal bytes mean equal typed values for values that went through `integral`: there no float is left that the canonical
form would write like an integer.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TypeAlias

import orjson

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_SAME_IN_ORJSON = frozenset({str, int, bool, type(None)})
# 10^19 does not fit what orjson reads exactly; a digit run in a text only costs the slower reader. With all digits made
# one, it is found at a third of what an expression takes.
_ALL_NINES = bytes.maketrans(b"0123456789", b"9" * 10)
_MAYBE_BIG = b"9" * 19
_INTEGRAL_BELOW = 1e21
_TOO_DEEP = "a value nested too deeply to write as JSON"


def canonical(value: Json) -> bytes:
    """The canonical UTF-8 bytes of a value.

    Raises ValueError for what is not JSON: NaN, infinities, lone surrogates, other types, keys that are not texts.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS) if _orjson_agrees(value) else _exact(value)
    except TypeError:  # an int past 64 bits or a lone surrogate
        return _exact(value)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def flat_canonical(members: dict[str, Json]) -> bytes:
    """The same of an object that `is_flat`, with ASCII names, integers of 64 bits and no half of a surrogate pair."""
    return orjson.dumps(members, option=orjson.OPT_SORT_KEYS)


def kept(value: Json) -> bytes:
    """The canonical bytes of a value that is kept for long, in no more memory than they take: the encoder's own hold
    4 KB each, however few they are."""
    return memoryview(canonical(value)).tobytes()


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of bytes in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def stored_json(value: Json) -> bytes:
    """Bytes for `decode`, as fast as they come: for what is kept, and is neither hashed nor compared."""
    try:
        return fitted(orjson.dumps(value))
    except TypeError:  # as in `canonical`
        return _exact(value)


def fitted(data: bytes) -> bytes:
    """The same bytes in memory of their own size: what orjson gives holds on to all that it reserved to write them."""
    return b"".join((data, b""))


def integral(value: Json) -> Json:
    """The value with every integral float below 1e21 as the int that it equals; unchanged parts are shared."""
    if isinstance(value, float):
        return int(value) if abs(value) < _INTEGRAL_BELOW and value.is_integer() else value
    pairs: Iterable[tuple[str, Json]] | Iterable[tuple[int, Json]]
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    else:
        return value
    changed = [
        (at, new) for at, item in pairs if type(item) not in _SAME_IN_ORJSON and (new := integral(item)) is not item
    ]
    if not changed:
        return value
    fresh = value.copy()
    for at, new in changed:
        fresh[at] = new  # type: ignore[index]
    return fresh


def is_flat(members: Mapping[str, object]) -> bool:
    """Whether an object holds nothing that could be shared or written in two ways: no objects, lists and floats."""
    for member in members.values():  # noqa: SIM110 - as below
        if type(member) not in _SAME_IN_ORJSON:
            return False
    return True


def decode(data: bytes) -> Json:
    """A fresh value of canonical bytes, every integer exact. For bytes of our own making; callers' text is parsed."""
    value: Json = (
        json.loads(data) if len(data) > 18 and data.translate(_ALL_NINES).find(_MAYBE_BIG) >= 0 else orjson.loads(data)
    )
    return value


def _orjson_agrees(value: object) -> bool:
    """Whether orjson writes these bytes, if it writes any: no floats, exact types, keys within the BMP.

    orjson sorts keys by code point, RFC 8785 by UTF-16 unit; the orders differ only past the BMP.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            if type(key) is not str or not (key.isascii() or max(key) <= "\uffff"):
                return False
            if type(item) not in _SAME_IN_ORJSON and not _orjson_agrees(item):
                return False
        return True
    if isinstance(value, list):
        for item in value:  # noqa: SIM110 - this runs for every call, and a generator would double its time
            if type(item) not in _SAME_IN_ORJSON and not _orjson_agrees(item):
                return False
        return True
    return type(value) in _SAME_IN_ORJSON


def _exact(value: Json) -> bytes:
    parts: list[str] = []
    try:
        _write(value, parts)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return "".join(parts).encode()


def _write(value: object, parts: list[str]) -> None:
    if isinstance(value, dict):
        _write_object(value, parts)
    elif isinstance(value, list):
        separator = "["
        for item in value:
            parts.append(separator)
            _write(item, parts)
            separator = ","
        parts.append("]" if value else "[]")
    else:
        parts.append(_scalar(value))


def _write_object(value: dict[str, object], parts: list[str]) -> None:
    separator = "{"
    for key in sorted(value, key=_utf16_order):
        parts.append(f"{separator}{_text(key)}:")
        _write(value[key], parts)
        separator = ","
    parts.append("}" if value else "{}")


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    # Exact types: an enum or another subclass may print otherwise than it compares.
    if isinstance(value, str) and type(value) is str:
        return _text(value)
    if isinstance(value, float) and type(value) is float:
        return _float(value)
    if type(value) is int:
        return str(value)
    raise ValueError(f"a value of type {type(value).__name__} is not JSON")


def _utf16_order(key: object) -> bytes:
    if not isinstance(key, str) or type(key) is not str:
        raise ValueError("an object's keys are texts in JSON")
    return key.encode("utf-16-be", "surrogatepass")


def _text(value: str) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        raise ValueError("a text with a lone surrogate is not JSON") from None


def _float(value: float) -> str:
    """ECMAScript's Number.prototype.toString, as RFC 8785 section 3.2.2.3 asks."""
    if not math.isfinite(value):
        raise ValueError("NaN and the infinities are not JSON")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    parsed = Decimal(repr(abs(value))).as_tuple()
    digits = "".join(map(str, parsed.digits))
    point = len(digits) + int(parsed.exponent)  # where the decimal point stands, counted from the first digit
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"
