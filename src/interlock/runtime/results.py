"""Reads back results that were too long to be shown: by page, by a text in them, or by a place in their JSON.

A result is read by who policy would let make the same call today, in the same tenant; to all others there is none.
Every reading is on record.
"""

from __future__ import annotations

from dataclasses import replace

from interlock.core.artifact import (
    JSON,
    PAGE_BYTES_MAX,
    PART_BYTES,
    Artifact,
    Match,
    Page,
    fits,
    matches,
    page,
    part_of,
    parts_between,
)
from interlock.core.call import Principal
from interlock.core.canonical import Json, decode
from interlock.core.decision import Deny
from interlock.core.frozen import frozen
from interlock.core.http_answer import is_text
from interlock.core.journal import EventKind
from interlock.core.labels import Labels
from interlock.core.observe import as_shown
from interlock.core.refusals import Code
from interlock.runtime.acts import signed_by
from interlock.runtime.records import Records
from interlock.runtime.sight import Sight
from interlock.runtime.world import World

MISSING = Deny(Code.PRECONDITION_FAILED, "There is no result of this handle, or not any more.")
TOO_MUCH = Deny(Code.OUTPUT_INVALID, "That is too much to be shown at once; ask for fewer, or for a place in it.")
UNSEARCHED = Deny(Code.OUTPUT_INVALID, "Fields of it are hidden from you, and it is too long to look for them.")

MATCHES_MAX = 100

LOOKED_THROUGH_MAX = 64 * 1024 * 1024
"""How long a result may be of which policy hides fields: they are looked for in all of it."""


@frozen
class _Open:
    """A result that may be read; `hidden` are the fields that policy of today has redacted in it."""

    artifact: Artifact
    hidden: frozenset[str]

    @property
    def is_hidden(self) -> bool:
        """Whether there may be any."""
        return bool(self.hidden) and is_text(self.artifact.media_type)


class ResultDesk:
    """Reads what was kept whole. Every method acts within the tenant of `by`."""

    def __init__(self, world: World, *, sight: Sight, records: Records) -> None:
        self._world = world
        self._sight = sight
        self._records = records

    async def read(self, handle: str, *, by: Principal, offset: int = 0, length: int = PAGE_BYTES_MAX) -> Page | Deny:
        """The page of at most `length` bytes at an offset; `Page.next_offset` leads to the next."""
        found = await self._opened(handle, by, what=f"bytes from {offset}")
        if isinstance(found, Deny):
            return found
        offset, length = max(0, offset), max(4, min(length, PAGE_BYTES_MAX))
        artifact = found.artifact
        if found.is_hidden:
            data = await self._whole(found)
            if isinstance(data, Deny):
                return data
            shorter = replace(artifact, size_bytes=len(data))
            return page(shorter, data[offset // PART_BYTES * PART_BYTES :], offset=offset, length=length)
        end = min(artifact.size_bytes, offset + length + 3)
        joined = await self._joined(artifact, parts_between(offset, end))
        return joined if isinstance(joined, Deny) else page(artifact, joined, offset=offset, length=length)

    async def raw(self, handle: str, *, by: Principal, offset: int = 0, length: int = PAGE_BYTES_MAX) -> bytes | Deny:
        """The bytes of what is no text, such as an image; empty beyond the end."""
        found = await self._opened(handle, by, what=f"bytes from {offset}")
        if isinstance(found, Deny):
            return found
        offset, length, artifact = max(0, offset), max(1, min(length, PAGE_BYTES_MAX)), found.artifact
        if found.is_hidden:
            data = await self._whole(found)
            return data if isinstance(data, Deny) else data[offset:][:length]
        end = min(artifact.size_bytes, offset + length)
        joined = await self._joined(artifact, parts_between(offset, end))
        return joined if isinstance(joined, Deny) else joined[offset % PART_BYTES :][: max(0, end - offset)]

    async def search(self, handle: str, text: str, *, by: Principal, most: int = 20) -> tuple[Match, ...] | Deny:
        """Where a text stands in it, as it is written in its JSON: the first places, with what stands around them."""
        found = await self._opened(handle, by, what="a search")
        if isinstance(found, Deny):
            return found
        data = await self._whole(found)
        return data if isinstance(data, Deny) else matches(data, text, most=max(1, min(most, MATCHES_MAX)))

    async def part(
        self, handle: str, pointer: str = "", *, by: Principal, start: int = 0, count: int = 50
    ) -> Json | Deny:
        """What stands at a JSON pointer in it; of an array or an object so many members from `start` on."""
        found = await self._opened(handle, by, what=f"{pointer or '/'} from {start}")
        if isinstance(found, Deny):
            return found
        data = await self._whole(found)
        if isinstance(data, Deny):
            return data
        try:
            value = part_of(decode(data), pointer, start=max(0, start), count=max(1, count))
        except (LookupError, ValueError):
            return Deny(Code.PRECONDITION_FAILED, "There is nothing at that place.")
        return value if fits(value) else TOO_MUCH

    async def labels(self, handle: str, *, by: Principal) -> Labels | None:
        """The labels that it carries, and so has whoever read it."""
        found = await self._found(handle, by)
        return None if found is None else found[0].labels

    async def _found(self, handle: str, by: Principal) -> tuple[Artifact, frozenset[str]] | None:
        """The result, and the fields that policy hides in it, for who might make the same call today.

        What came of somebody's own credentials is theirs alone.
        """
        artifact = await self._world.artifacts.artifact(by.tenant, handle)
        told = None if artifact is None else await self._sight.verdict_on(artifact.sealed, by)
        if artifact is None or told is None or (told[0].spec.secrets and artifact.principal != by.id):
            return None
        return artifact, told[1].redact

    async def _opened(self, handle: str, by: Principal, *, what: str) -> _Open | Deny:
        found = await self._found(handle, by)
        if found is None:
            return MISSING
        artifact, hidden = found
        record: dict[str, object] = {
            "subject": artifact.operation_id,
            "tool": artifact.tool,
            "handle": handle,
            "what": what,
            **signed_by(by),
        }
        await self._world.audit.append(self._records.act(EventKind.RESULT_READ, by.tenant, record))
        opened = _Open(artifact, hidden)
        return UNSEARCHED if opened.is_hidden and artifact.size_bytes > LOOKED_THROUGH_MAX else opened

    async def _whole(self, found: _Open) -> bytes | Deny:
        """All of it, as policy of today shows it; fields have to be looked for in the whole."""
        data = await self._joined(found.artifact, range(found.artifact.parts))
        if isinstance(data, Deny) or not found.is_hidden:
            return data
        if found.artifact.media_type == JSON:
            return self._records.redactor.json_bytes(data, named=found.hidden)
        return as_shown(data.decode("utf-8", "replace"), self._records.redactor, found.hidden).encode()

    async def _joined(self, artifact: Artifact, numbers: range) -> bytes | Deny:
        """These parts; never some of them, where the others are purged meanwhile: all that follows would be shifted."""
        parts: list[bytes] = []
        for number in numbers:
            part = await self._world.artifacts.part(artifact.tenant, artifact.id, number=number)
            if part is None:
                return MISSING
            parts.append(part)
        return b"".join(parts)
