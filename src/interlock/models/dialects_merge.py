"""Makes one schema of two that both must hold, as far as one without `allOf` can say it.

What cannot be said in one is left to the gate: the merged schema then accepts more, never less, and `noted` names the
keyword that was given up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from interlock.core.canonical import Json

_LOWER_BOUNDS: Final = frozenset("minimum exclusiveMinimum minLength minItems minProperties minContains".split())
_UPPER_BOUNDS: Final = frozenset("maximum exclusiveMaximum maxLength maxItems maxProperties maxContains".split())
_WORDS: Final = frozenset("title description default examples".split())
_BOTH: Final = frozenset({"items", "contains", "propertyNames"})


def merged(one: dict[str, Json], other: dict[str, Json], *, noted: Callable[[str], None]) -> dict[str, Json]:
    """The members of both; where both have one, what holds both. Subschemas are joined by `allOf`, to merge later."""
    if ("additionalProperties" in one) is not ("additionalProperties" in other) and not _same_members(one, other):
        noted("additionalProperties")
    result = dict(one)
    for keyword, value in other.items():
        if keyword not in result:
            result[keyword] = value
        elif result[keyword] != value and keyword not in _WORDS:
            result[keyword] = _joined(keyword, (result[keyword], value), noted=noted)
    return result


def _joined(keyword: str, both: tuple[Json, Json], *, noted: Callable[[str], None]) -> Json:
    one, other = both
    if keyword in _LOWER_BOUNDS | _UPPER_BOUNDS and _is_number(one) and _is_number(other):
        return max(one, other) if keyword in _LOWER_BOUNDS else min(one, other)  # type: ignore[type-var]
    if keyword in {"properties", "patternProperties"} and isinstance(one, dict) and isinstance(other, dict):
        return {name: _all_of(one.get(name), other.get(name)) for name in {**one, **other}}
    if keyword == "required" and isinstance(one, list) and isinstance(other, list):
        return [*one, *(name for name in other if name not in one)]
    if keyword == "enum" and isinstance(one, list) and isinstance(other, list):
        return [value for value in one if value in other]
    if keyword == "allOf" and isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    if keyword == "type":
        return _common(one, other)
    if keyword == "additionalProperties":
        return _fewer_members(both, noted=noted)
    if keyword in _BOTH:
        return _all_of(one, other)
    noted(keyword)
    return one


def _same_members(one: dict[str, Json], other: dict[str, Json]) -> bool:
    """Whether the side that says nothing of other members names none that the side that does would shut out."""
    says, silent = (one, other) if "additionalProperties" in one else (other, one)
    named, more = says.get("properties"), silent.get("properties")
    return says["additionalProperties"] is True or not isinstance(more, dict) or set(more) <= set(named or ())  # type: ignore[arg-type]


def _all_of(one: Json, other: Json) -> Json:
    """Both schemas; the one that is there where the other is not."""
    if one is None or other is None or one == other:
        return other if one is None else one
    return {"allOf": [one, other]}


def _common(one: Json, other: Json) -> Json:
    """The types that both name. An integer is a number."""
    left, right = types_of(one), types_of(other)
    common = [name for name in left if name in right or (name == "integer" and "number" in right)]
    common += [name for name in right if name == "integer" and name not in common and "number" in left]
    return common[0] if len(common) == 1 else list(common)


def types_of(value: Json) -> list[str]:
    """The names of a `type`, one or a list."""
    return [name for name in (value if isinstance(value, list) else [value]) if isinstance(name, str)]


def _fewer_members(both: tuple[Json, Json], *, noted: Callable[[str], None]) -> Json:
    """Closed if either is. The other members that the closed one shuts out are left to the gate."""
    noted("additionalProperties")
    if False in both:
        return False
    return both[0] if both[1] is True else both[1] if both[0] is True else _all_of(*both)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
