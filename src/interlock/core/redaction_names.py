"""Masks the fields that a policy names (`@redact("ssn")`), by name, wherever they stand in a value.

A name says what a field holds, not where: an object in a list, or in a text that is itself JSON, hides nothing.
"""

from __future__ import annotations

import json
from functools import lru_cache

import orjson

from interlock.core.canonical import Json
from interlock.core.redaction_marks import MASK

DEPTH_MAX = 128

_OPENS_JSON = ("{", "[", '"')


@lru_cache(maxsize=1024)
def name_needles(names: frozenset[str]) -> tuple[bytes, ...]:
    """What canonical JSON contains wherever one of these fields stands, also in JSON within its texts."""
    return tuple(sorted({_needle(name) for name in names}))


def mask_named(value: Json, names: frozenset[str], *, depth: int = 0) -> Json:
    """The value with every field of one of these names masked; the same object where there is none.

    What lies deeper than 128 levels is masked whole, and so is a text that begins as JSON, has one of the names in it
    and cannot be read, such as the head of a result that was cut: it hides too much rather than too little.
    """
    if depth > DEPTH_MAX:
        return MASK
    match value:
        case dict():
            members: dict[str, Json] = {
                key: _masked(each) if key in names else mask_named(each, names, depth=depth + 1)
                for key, each in value.items()
            }
            return members if any(members[key] is not each for key, each in value.items()) else value
        case list():
            items = [mask_named(each, names, depth=depth + 1) for each in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        case str():
            return _masked_text(value, names, depth)
        case _:
            return value


def _masked(value: Json) -> Json:
    return value if value == MASK else MASK


def _masked_text(text: str, names: frozenset[str], depth: int) -> str:
    if not _may_name(text, names):
        return text
    opens = text.lstrip().startswith(_OPENS_JSON)
    masked = _masked_json(text, names, depth) if opens else None
    if masked is None and "\n" in text:
        masked = _masked_lines(text.split("\n"), names, depth, every=opens)
    if masked is not None or not opens:
        return text if masked is None else masked
    return MASK if any(name in text for name in names) else text


def _masked_json(text: str, names: frozenset[str], depth: int) -> str | None:
    """The text, which is JSON; None: it cannot be read."""
    try:
        within = json.loads(text)
    except (ValueError, RecursionError):
        return None
    masked = mask_named(within, names, depth=depth + 1)
    return text if masked is within else json.dumps(masked, ensure_ascii=False, separators=(",", ":"))


def _masked_lines(lines: list[str], names: frozenset[str], depth: int, *, every: bool) -> str | None:
    """The text, of which lines are JSON, the last of them possibly cut. `every`: None where another cannot be read."""
    found: list[str] = []
    for line in lines:
        opens = line.lstrip().startswith(_OPENS_JSON)
        if not (opens or every) or not _may_name(line, names):
            found.append(line)
            continue
        masked = _masked_json(line, names, depth)
        if masked is None and every and len(found) < len(lines) - 1:
            return None
        found.append(MASK if masked is None else masked)
    return "\n".join(found)


def _may_name(text: str, names: frozenset[str]) -> bool:
    """Whether reading the text is worth it: a name may also be spelled with escapes."""
    return "\\" in text or any(name in text for name in names)


def _needle(name: str) -> bytes:
    """Empty, so found in everything, for a name that JSON within JSON would spell otherwise."""
    spelled = orjson.dumps(name)[1:-1]
    return b"" if b"\\" in spelled else spelled
