"""In which fields two specs differ, for people who have to see it: what nobody sees is spelled out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from interlock.core.canonical import Json, canonical
from interlock.core.frozen import frozen
from interlock.core.schema_references import escaped
from interlock.core.text import visible

AROUND: Final = 30
"""How much of what is the same is shown before a difference."""

SHOWN_MAX: Final = 600
"""How much of a value is shown from there on."""

CHANGES_MAX: Final = 100
"""How many fields are told; more of them are another tool."""


@frozen
class SpecChange:
    """A field by its JSON pointer, as it was and as it is now, both made visible; an empty text is nothing."""

    field: str
    before: str
    now: str

    @property
    def line(self) -> str:
        """It in one line, of long texts the part where they begin to differ."""
        return f"{self.field}: {difference(self.before, self.now)}"


def spec_changes(before: Json, now: Json) -> tuple[SpecChange, ...]:
    """The fields in which two specs, as JSON, differ, in the order of their names; at most so many."""
    found: list[SpecChange] = []
    for path, was, is_now in _unlike(before, now, ""):
        if len(found) == CHANGES_MAX:
            break
        found.append(SpecChange(visible(path), was, is_now))
    return tuple(found)


def told(changes: tuple[SpecChange, ...], *, most: int = 5) -> str:
    """Which fields they are, the first of them by name."""
    more = [f"{len(changes) - most} more"] if len(changes) > most else []
    return ", ".join([*(each.field for each in changes[:most]), *more])


def difference(before: str, now: str) -> str:
    """Where two texts differ, with a little of what is around it: a change at the end of a long one is seen as well.

    Both have been made visible already.
    """
    before, now = before.replace("\n", " "), now.replace("\n", " ")
    unlike = (at for at, (one, other) in enumerate(zip(before, now, strict=False)) if one != other)
    start = next(unlike, min(len(before), len(now)))
    start = start - AROUND if start > AROUND * 2 else 0
    return f"{_part(before, start)} -> {_part(now, start)}"


def _part(text: str, start: int) -> str:
    shown = text[start : start + SHOWN_MAX]
    return f"{'…' if start else ''}{shown}{'…' if start + SHOWN_MAX < len(text) else ''}" or "nothing"


def _unlike(before: Json, now: Json, path: str) -> Iterator[tuple[str, str, str]]:
    """Objects member by member, lists of one length entry by entry, the rest as it stands."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted(before.keys() | now.keys()):
            place = f"{path}/{escaped(name)}"
            if name not in before:
                yield place, "", _shown(now[name])
            elif name not in now:
                yield place, _shown(before[name]), ""
            else:
                yield from _unlike(before[name], now[name], place)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for at, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _unlike(one, other, f"{path}/{at}")
    elif type(before) is not type(now) or before != now:
        yield path, _shown(before), _shown(now)


def _shown(value: Json) -> str:
    """It as JSON, in which a space at the end of a text is seen as well."""
    return visible(canonical(value).decode())
