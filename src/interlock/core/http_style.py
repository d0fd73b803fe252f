"""Writes a value as its slot's style says: RFC 6570 as OpenAPI 3.1 uses it, with the delimited styles and deepObject.

Everything that is not unreserved is percent-encoded, so no value can end its place: the delimiters are ours alone. What
a style has no spelling for (an object within an array, null within one) is refused, not guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from urllib.parse import quote

from interlock.core.canonical import Json, canonical
from interlock.core.http_template import Slot, Style

Pair = tuple[str, str]
Write = Callable[[str], str]

_ENDS_NOTHING = ":/?@!$'()*,;"
"""Reserved characters that cannot end a value of a query, nor mean something else to who reads forms."""

_DELIMITERS = {Style.SPACE: "%20", Style.PIPE: "%7C"}


class Misfit(Exception):
    """This value cannot stand in this place; the text says why, and holds nothing of the value."""


def is_absent(value: Json) -> bool:
    """Whether RFC 6570 calls the value undefined: null, or a list or object without members."""
    return value is None or (isinstance(value, list | dict) and not value)


def pairs(slot: Slot, value: Json) -> list[Pair]:
    """Names and values, both encoded, of a query, a form body or a cookie. Raises `Misfit`."""
    write = _write_reserved if slot.reserved else encoded
    name = encoded(slot.name)
    match slot.style:
        case Style.JSON:
            return [(name, write(canonical(value).decode()))]
        case Style.DEEP:
            return [(f"{name}%5B{encoded(key)}%5D", write(text)) for key, text in _deep(value)]
        case _ if isinstance(value, dict) and slot.explode:
            return [(encoded(key), write(text)) for key, text in _members(value)]
        case _ if isinstance(value, list) and slot.explode:
            return [(name, write(text)) for text in _items(value)]
        case _:
            return [(name, _DELIMITERS.get(slot.style, ",").join(map(write, _flat(value))))]


def in_path(slot: Slot, value: Json) -> str:
    """The text of a path slot. Raises `Misfit`."""
    match slot.style:
        case Style.JSON:
            return encoded(canonical(value).decode())
        case Style.LABEL:
            return "." + _joined(slot, value, encoded, separator="." if slot.explode else ",")
        case Style.MATRIX:
            return "".join(f";{name}={text}" if text else f";{name}" for name, text in _matrix(slot, value))
        case _:
            return _joined(slot, value, encoded, separator=",")


def in_header(slot: Slot, value: Json) -> str:
    """The text of a header, which knows no percent-encoding. Raises `Misfit`."""
    if slot.style is Style.JSON:
        return canonical(value).decode()
    write = _plain if isinstance(value, list | dict) else str
    return _joined(slot, value, write, separator=",")


def encoded(text: str) -> str:
    """Percent-encoded but for unreserved characters. Raises `Misfit`."""
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise Misfit("it holds half of a surrogate pair") from None


def scalar(value: Json) -> str:
    """One value as text: JSON's spelling of numbers and booleans. Raises `Misfit`."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, list | dict):
        raise Misfit("its style has no spelling for a value within a value")
    return canonical(value).decode()


def _matrix(slot: Slot, value: Json) -> list[Pair]:
    name = encoded(slot.name)
    if slot.explode and isinstance(value, dict):
        return [(encoded(key), encoded(text)) for key, text in _members(value)]
    if slot.explode and isinstance(value, list):
        return [(name, encoded(text)) for text in _items(value)]
    return [(name, ",".join(map(encoded, _flat(value))))]


def _joined(slot: Slot, value: Json, write: Write, *, separator: str) -> str:
    if slot.explode and isinstance(value, dict):
        return separator.join(f"{write(key)}={write(text)}" for key, text in _members(value))
    return separator.join(map(write, _flat(value)))


def _flat(value: Json) -> list[str]:
    """The parts of a value that is not exploded: an object is its keys and values in turn."""
    if isinstance(value, dict):
        return [part for pair in _members(value) for part in pair]
    return _items(value) if isinstance(value, list) else [scalar(value)]


def _members(value: dict[str, Json]) -> list[Pair]:
    return [(key, scalar(each)) for key, each in value.items()]


def _items(value: Iterable[Json]) -> list[str]:
    return [scalar(each) for each in value]


def _deep(value: Json) -> list[Pair]:
    if not isinstance(value, dict):
        raise Misfit("deepObject writes objects only")
    return _members(value)


def _plain(text: str) -> str:
    if "," in text or "=" in text:
        raise Misfit("a list in a header cannot hold a comma or an equals sign")
    return text


def _write_reserved(text: str) -> str:
    encoded(text)
    return quote(text, safe=_ENDS_NOTHING)
