"""Strict reading of a call's arguments: one parse, into one value of our own.

A parser that guesses (the last of two equal keys, a closed brace, a rounded number) makes the value that was authorized
another one than the value that runs. So nothing is repaired here: what is not one complete, unambiguous JSON object
within the limits is refused with a sentence that repeats nothing of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import cast

import orjson

from interlock.core.canonical import Json, canonical, integral, is_flat
from interlock.core.frozen import frozen

INTEGER_DIGITS_MAX = 4300
"""The digits that CPython itself converts; past that, reading a number takes quadratic time."""

PLAIN_CHARS_MAX = 4_096
"""How long a text may be that is tried as a plain one: for longer ones its searches cost more than they spare."""

_BLANK = " \t\n\r"
_TOO_MANY_DIGITS = f"The arguments hold an integer of more than {INTEGER_DIGITS_MAX} digits."


@frozen
class ArgumentLimits:
    """Bounds of one call's arguments: bytes of UTF-8, and levels of objects and lists (the root is level one)."""

    bytes_max: int = 1_048_576
    depth_max: int = 64


@frozen
class Unparsed:
    """Why arguments were refused, safe to show; `not_an_object` tells a wrong root (valid JSON) from invalid JSON."""

    reason: str
    not_an_object: bool = False


class _Refused(ValueError):
    """Carries a reason out of the decoder; never leaves this file."""


DEFAULT_LIMITS = ArgumentLimits()


def parse_arguments(
    raw: str | bytes | Mapping[str, object] | None, limits: ArgumentLimits = DEFAULT_LIMITS
) -> dict[str, Json] | Unparsed:
    """The arguments as a value that shares nothing with the input, or why they are refused.

    None, empty or blank text and `null` mean no arguments. A mapping is copied under the same rules as text.
    """
    if raw is None:
        return {}
    plain = _plain(raw) if type(raw) is str and limits is DEFAULT_LIMITS else None
    return _with_care(raw, limits) if plain is None else plain


def plain_arguments(raw: object) -> dict[str, Json] | None:
    """The arguments where they are a plain text, for which `flat_canonical` is the canonical form; else None."""
    return _plain(raw) if type(raw) is str else None


def careful_arguments(raw: str | bytes | Mapping[str, object] | None) -> dict[str, Json] | Unparsed:
    """The arguments of any kind, with integral floats as the integers that they equal; a plain text holds none."""
    parsed = {} if raw is None else _with_care(raw, DEFAULT_LIMITS)
    return parsed if isinstance(parsed, Unparsed) else cast("dict[str, Json]", integral(parsed))


def _with_care(raw: str | bytes | Mapping[str, object], limits: ArgumentLimits) -> dict[str, Json] | Unparsed:
    try:
        value = _read_text(raw, limits) if isinstance(raw, (str, bytes)) else _copied(raw, limits)
    except _Refused as refusal:
        return Unparsed(str(refusal))
    except RecursionError:
        return Unparsed(_too_deep(limits))
    if value is None:
        return {}
    if type(value) is not dict:
        return Unparsed(f"The arguments must be a JSON object, not {_kind(value)}.", not_an_object=True)
    return value


def _plain(text: str) -> dict[str, Json] | None:
    """One flat object of ASCII without escapes and floats, as most arguments are; None: it is to be read with care.

    The fast decoder keeps the last of two equal keys, and makes floats of integers past 64 bits. An object has a colon
    for each of its keys: as many as members are left means that no key was named twice and no text holds a colon.
    """
    if len(text) > PLAIN_CHARS_MAX or not text.isascii() or text.find("\\") >= 0:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if type(value) is dict and text.count(":") == len(value) and is_flat(value) else None


def _copied(raw: object, limits: ArgumentLimits) -> Json:
    try:
        return _Copy(limits).root(raw)
    except (_Refused, RecursionError):
        raise
    except Exception:  # noqa: BLE001 - a mapping is a host's object: reading it runs code that may raise anything
        raise _Refused("The arguments could not be read.") from None


def _read_text(raw: str | bytes, limits: ArgumentLimits) -> Json:
    text = _decoded(raw, limits)
    try:
        value = _value(text, _DECODER if len(text) <= INTEGER_DIGITS_MAX else _DECODER_OF_LONG)
    except json.JSONDecodeError as error:
        if not text.strip(_BLANK):
            return None
        raise _Refused(_syntax_reason(text, error)) from None
    if text.count("{") + text.count("[") > limits.depth_max and _deeper_than(value, limits.depth_max):
        raise _Refused(_too_deep(limits))
    if "\\u" in text:
        _refuse_lone_surrogates(value)
    return value


def _value(text: str, decoder: json.JSONDecoder) -> Json:
    """What the decoder makes of it. Text that is one object to the end needs none of its searches for blanks."""
    value: Json
    if text.startswith("{"):
        try:
            # Not in the type stubs, but in every version of the decoder.
            value, end = decoder.scan_once(text, 0)  # type: ignore[attr-defined]
        except StopIteration:
            end = -1
        if end == len(text):
            return value
    value = decoder.decode(text)
    return value


def _decoded(raw: str | bytes, limits: ArgumentLimits) -> str:
    if len(raw) > limits.bytes_max:
        raise _Refused(_too_long(limits))
    try:
        if isinstance(raw, bytes):
            return raw.decode()
        if not raw.isascii() and len(raw.encode()) > limits.bytes_max:
            raise _Refused(_too_long(limits))
    except UnicodeError:
        raise _Refused("The arguments are not valid UTF-8 text.") from None
    return raw


def _syntax_reason(text: str, error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data":
        return f"The arguments have text after the JSON value, at character {error.pos}; send exactly one JSON object."
    if error.pos >= len(text.rstrip(_BLANK)) or error.msg.startswith("Unterminated string"):
        return "The arguments end before the JSON value is complete; send all of it, or a smaller value."
    return f"The arguments are not valid JSON at character {error.pos}; send one complete JSON object."


def _refuse_lone_surrogates(value: Json) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _Refused("The arguments hold half of a surrogate pair, which is no character.") from None


def _deeper_than(value: Json, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    if levels == 0:
        return True
    items = value.values() if isinstance(value, dict) else value
    return any(_deeper_than(item, levels - 1) for item in items)


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused("The arguments name the same key twice in one object; each key may appear once.")
    return value


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > INTEGER_DIGITS_MAX:
        raise _Refused(_TOO_MANY_DIGITS)
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _Refused("The arguments hold a number too large to represent.")
    return value


def _constant(_: str) -> Json:
    raise _Refused("The arguments hold NaN or Infinity, which are not JSON.")


# The hooks run while the decoder reads, so a duplicate key is seen before one of the two is lost.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
# Only a text this long can hold an integer past the limit, and a hook for each integer costs a tenth of the parse.
_DECODER_OF_LONG = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


class _Copy:
    """Copies a mapping as JSON, counting levels and a lower bound of its bytes so that shared parts cannot explode."""

    def __init__(self, limits: ArgumentLimits) -> None:
        self._limits = limits
        self._bytes_left = limits.bytes_max

    def root(self, raw: object) -> Json:
        value = self._value(raw, self._limits.depth_max)
        try:
            size = len(canonical(value))
        except ValueError:
            raise _Refused("The arguments hold half of a surrogate pair, which is no character.") from None
        if size > self._limits.bytes_max:
            raise _Refused(_too_long(self._limits))
        return value

    def _object(self, raw: Mapping[str, object], levels: int) -> dict[str, Json]:
        value: dict[str, Json] = {}
        for key, item in raw.items():
            if type(key) is not str:
                raise _Refused("The arguments have a key that is not a text.")
            self._spend(len(key))
            value[key] = self._value(item, levels - 1)
        return value

    def _value(self, raw: object, levels: int) -> Json:
        self._spend(1)
        if isinstance(raw, Mapping | list):
            if levels <= 0:
                raise _Refused(_too_deep(self._limits))
            return self._object(raw, levels) if isinstance(raw, Mapping) else self._list(raw, levels)
        return self._scalar(raw)

    def _list(self, raw: list[object], levels: int) -> list[Json]:
        return [self._value(item, levels - 1) for item in raw]

    def _scalar(self, raw: object) -> Json:
        if raw is None or type(raw) is bool:
            return raw
        # Exact types: an enum is an int or a text that prints otherwise than it compares.
        if isinstance(raw, str) and type(raw) is str:
            self._spend(len(raw))
            return raw
        if isinstance(raw, int) and type(raw) is int:
            return _bounded(raw)
        if isinstance(raw, float) and type(raw) is float:
            return raw if math.isfinite(raw) else _constant("")
        raise _Refused("The arguments hold a value of a type that JSON does not have.")

    def _spend(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise _Refused(_too_long(self._limits))


def _bounded(value: int) -> int:
    """The integer, if its digits are within the limit; a power of ten is compared because printing is what is slow."""
    if value.bit_length() > 3 * INTEGER_DIGITS_MAX and abs(value) >= 10**INTEGER_DIGITS_MAX:
        raise _Refused(_TOO_MANY_DIGITS)
    return value


def _kind(value: Json) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case _:
            return "a list"


def _too_deep(limits: ArgumentLimits) -> str:
    return f"The arguments are nested deeper than {limits.depth_max} levels."


def _too_long(limits: ArgumentLimits) -> str:
    return f"The arguments are longer than {limits.bytes_max} bytes."
