"""A whole result that an observation shows only the beginning of, kept in parts and read back by its handle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.core.canonical import Json, canonical
from interlock.core.frozen import frozen
from interlock.core.labels import Labels

PART_BYTES = 262_144
"""How much one part holds: all but the last hold exactly so much."""

PAGE_BYTES_MAX = 262_144
"""How much is read back at once, at most."""

EXCERPT_BYTES = 160
"""How much is shown on either side of what was searched for."""

JSON = "application/json"
TEXT = "text/plain"


@frozen
class Artifact:
    """What is known of a kept result beside its bytes. `sealed` is the operation it came of, `labels` what it carries.

    The bytes are those that the observation would have shown: checked, cleaned and redacted.
    """

    tenant: str
    id: str
    operation_id: str
    tool: str
    principal: str
    media_type: str
    size_bytes: int
    labels: Labels
    at_us: int
    sealed: bytes

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return -(-self.size_bytes // PART_BYTES)


@frozen
class Page:
    """A piece of a kept result as text. Offsets count bytes; `next_offset` is None at the end."""

    handle: str
    media_type: str
    text: str
    offset: int
    next_offset: int | None
    size_bytes: int


@frozen
class Match:
    """A place at which a text was found, with what stands around it."""

    offset: int
    excerpt: str


def parts_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The data in numbered parts."""
    for number, start in enumerate(range(0, len(data), PART_BYTES)):
        yield number, data[start : start + PART_BYTES]


def parts_between(start: int, end: int) -> range:
    """The numbers of the parts that hold these bytes."""
    return range(start // PART_BYTES, -(-end // PART_BYTES))


def page(artifact: Artifact, joined: bytes, *, offset: int, length: int) -> Page:
    """The page at an offset; `joined` are the parts that hold it. It begins and ends at whole characters."""
    first = offset // PART_BYTES * PART_BYTES
    piece = joined[offset - first :][: length + 3]
    head = _continuation(piece)
    text = piece[head : head + _whole(piece[head:], length)]
    end = offset + head + len(text)
    return Page(
        artifact.id,
        artifact.media_type,
        text.decode("utf-8", "replace"),
        offset + head,
        end if end < artifact.size_bytes else None,
        artifact.size_bytes,
    )


def matches(data: bytes, text: str, *, most: int) -> tuple[Match, ...]:
    """The first places at which the text stands; those that stand in what is shown around one are not told again."""
    needle, found, at = text.encode(), list[Match](), 0
    while needle and len(found) < most and (at := data.find(needle, at)) >= 0:
        around = data[max(0, at - EXCERPT_BYTES) : at + len(needle) + EXCERPT_BYTES]
        found.append(Match(at, around.decode("utf-8", "ignore")))
        at += len(needle) + EXCERPT_BYTES
    return tuple(found)


def part_of(value: Json, pointer: str, *, start: int, count: int) -> Json:
    """What stands at a JSON pointer (RFC 6901): of an array or an object so many members from `start` on.

    Raises `LookupError` where there is nothing.
    """
    for step in pointer.split("/")[1:] if pointer else ():
        value = _member(value, step.replace("~1", "/").replace("~0", "~"))
    if isinstance(value, list):
        return {"items": value[start : start + count], "start": start, "of": len(value)}
    if isinstance(value, dict):
        shown = list(value.items())[start : start + count]
        return {"members": dict(shown), "start": start, "of": len(value)}
    return {"value": value}


def fits(value: Json) -> bool:
    """Whether a part is short enough to be given back at once."""
    return len(canonical(value)) <= PAGE_BYTES_MAX


def _member(value: Json, step: str) -> Json:
    if isinstance(value, dict) and step in value:
        return value[step]
    if isinstance(value, list) and step.isdecimal() and step.isascii() and int(step) < len(value):
        return value[int(step)]
    raise LookupError(step)


def _continuation(piece: Sequence[int]) -> int:
    """How many bytes at the beginning belong to a character that began before."""
    count = 0
    while count < min(3, len(piece)) and piece[count] & 0xC0 == 0x80:
        count += 1
    return count


def _whole(piece: bytes, length: int) -> int:
    """The longest beginning of at most so many bytes that ends with a whole character; never nothing of something."""
    end = min(length, len(piece))
    while 0 < end < len(piece) and piece[end] & 0xC0 == 0x80:
        end -= 1
    return end or min(length, len(piece))
