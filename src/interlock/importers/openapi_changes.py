"""What has changed between a snapshot and a document, operation by operation and field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.importers.openapi_snapshot import Snapshot

_REMARKS = "remarks"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an operation, as it was reviewed and as it is now; an empty text is nothing."""

    name: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Operations that came, went, or are not what was reviewed; and places that make no tool, where that is new."""

    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: Mapping[str, tuple[Field, ...]] | None = None
    not_tools: Mapping[str, tuple[Field, ...]] | None = None

    @property
    def any(self) -> bool:
        """Whether there is anything to review."""
        return bool(self.new or self.gone or self.changed or self.not_tools)


def changes(before: Snapshot, now: Snapshot) -> Changes:
    """What is to be reviewed before the snapshot is renewed."""
    old, new = before.operations, now.operations
    changed = {key: fields(old[key].read, new[key].read) for key in old if key in new and differs(before, now, key)}
    listed = before.not_tools.keys() | now.not_tools.keys()
    others = {
        key: (Field("reason", before.not_tools.get(key, ""), now.not_tools.get(key, "")),)
        for key in sorted(listed)
        if before.not_tools.get(key) != now.not_tools.get(key)
    }
    return Changes(
        tuple(key for key in new if key not in old), tuple(key for key in old if key not in new), changed, others
    )


def differs(before: Snapshot, now: Snapshot, key: str) -> bool:
    """Whether an operation of both is another one."""
    return before.operations[key].digest != now.operations[key].digest


def fields(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[Field, ...]:
    """The fields in which they differ. A snapshot whose fields were edited by hand may show none."""
    names = [name for name in {**before, **now} if name != _REMARKS]
    found = [Field(name, before.get(name, ""), now.get(name, "")) for name in names]
    return tuple(each for each in found if each.before != each.now)
