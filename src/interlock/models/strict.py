"""Reads what a provider sent strictly, and takes values out of it without trusting that they are what they should be.

Raw JSON is read without partial values, duplicate keys or NaN. What is taken out of it is the value if it has the right
type, else nothing: compatible servers send null and "" for what is not there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final, NoReturn

import orjson

from interlock.models.turn import REASON_CHARACTERS_MAX

BODY_BYTES_MAX: Final = 16 * 1024 * 1024
DEPTH_MAX: Final = 256
TOO_LARGE: Final = f"The response is larger than {BODY_BYTES_MAX} bytes."


def strict_json(source: str) -> object:
    """The one value that the text holds. Raises ValueError, or RecursionError for a value that is nested too deep.

    The bound is far from the interpreter's own: what was read can always be written again, from any depth of calls.
    """
    parsed = _parsed(source)
    if source.count("[") + source.count("{") > DEPTH_MAX and _deeper_than(parsed, DEPTH_MAX):
        raise RecursionError(f"The value is nested deeper than {DEPTH_MAX} levels.")
    return parsed


def _parsed(source: str) -> object:
    parsed: object
    if source.startswith("{"):
        # An event is one object to its end: no need to search for blanks around it. Not in the type stubs.
        try:
            parsed, end = _DECODER.scan_once(source, 0)  # type: ignore[attr-defined]
        except StopIteration:
            end = -1
        if end == len(source):
            return parsed
    parsed = _DECODER.decode(source)
    return parsed


def mapping(value: object) -> Mapping[str, object]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping[str, object]]:
    """The objects in a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """The value if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def raw_text(value: object) -> str:
    """Text as it is, nothing for null, and the JSON text of anything else."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)


def count(value: object) -> int | None:
    """The value if it is a whole number that counts something."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def is_object(source: str) -> bool:
    """The text is one JSON object, which servers can take back in a history."""
    return _is_object_to_all(source) or _is_object(source)


def _is_object_to_all(source: str) -> bool:
    """Whether the fast decoder, which takes less than the other, takes it: as nearly all is."""
    try:
        return isinstance(orjson.loads(source), dict)
    except orjson.JSONDecodeError:
        return False


def _is_object(source: str) -> bool:
    try:
        return isinstance(_LENIENT.decode(source), dict)
    except (ValueError, RecursionError):
        return False


def error_sentence(body: Mapping[str, object]) -> str:
    """The provider's own words for what went wrong. They are untrusted text, to show."""
    error = body.get("error")
    inner = mapping(error)
    words = text(error) or text(inner.get("message")) or text(body.get("message")) or text(body.get("detail"))
    return (words or "The provider reported an error without a message.")[:REASON_CHARACTERS_MAX]


def error_of(body: Mapping[str, object]) -> str:
    """The provider's error as it came, as JSON text."""
    return json.dumps(body.get("error") or body)


def unreadable(status: int) -> str:
    """The sentence for a body that is no JSON."""
    return "The response is no JSON." if status < 400 else f"HTTP {status}, without a readable message."


def free_id(position: int, taken: set[str]) -> str:
    """A label for a call whose own is missing or taken."""
    reply_id = f"call_{position}"
    while reply_id in taken:
        reply_id += "_"
    return reply_id


def _deeper_than(value: object, levels: int) -> bool:
    """Level by level, so that no value is too deep for this itself."""
    level: list[object] = [value]
    for _ in range(levels):
        level = [item for held in level for item in _items(held)]
        if not level:
            return False
    return any(isinstance(held, dict | list) for held in level)


def _items(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("An object has a key twice.")
    return members


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON.")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)
_LENIENT: Final = json.JSONDecoder(parse_constant=_refuse_constant)
