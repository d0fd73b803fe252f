"""Emergency stops: one act that closes everything of a tenant, a source, a vendor or a tool, and one that opens it.

A stop stands beside the states of versions and changes none of them, so its release opens exactly what it closed:
nothing that somebody else has frozen, quarantined or retired, before or since. What is published while a stop stands is
stopped too. Nothing of what is stopped runs, runs that are bound and versions that drain included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Final

from interlock.core.call import is_storable
from interlock.core.canonical import canonical, decode
from interlock.core.errors import MoveRefused
from interlock.core.tool import SHARED, ToolSpec, spec_to_json
from interlock.core.typed import from_json

NAME_CHARS_MAX: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class StopScope:
    """What a stop closes: whatever fits all that is named; nothing named is everything.

    Of a tenant it closes its own tools, and those that all share, for that tenant; of `*` it closes them for all.
    """

    tenant: str
    source: str = ""
    vendor: str = ""
    tool: str = ""

    def covers(self, spec: ToolSpec, *, tenant: str) -> bool:
        """Whether this version is closed by it for callers of a tenant."""
        pairs = ((self.source, spec.source), (self.vendor, spec.vendor.name), (self.tool, spec.name))
        return self.tenant in (SHARED, spec.tenant, tenant) and all(named in ("", has) for named, has in pairs)

    @property
    def words(self) -> str:
        """In words: `every tool of the vendor V`."""
        named = [
            f"of the {name} {value}" for name, value in (("source", self.source), ("vendor", self.vendor)) if value
        ]
        which = f"the tool {self.tool}" if self.tool else "every tool"
        whose = "" if self.tenant == SHARED else f"of the tenant {self.tenant}"
        return " ".join(part for part in (which, *named, whose) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """One stop, from the act that put it up to the one that takes it down. `at_us` is microseconds since 1970."""

    id: str
    scope: StopScope
    reason: str
    by: str
    at_us: int


def stopping(stops: Iterable[Stop], spec: ToolSpec, *, tenant: str) -> tuple[Stop, ...]:
    """Those of the stops that close this version for callers of a tenant."""
    return tuple(each for each in stops if each.scope.covers(spec, tenant=tenant))


def stop_to_bytes(stop: Stop) -> bytes:
    """What is kept of it."""
    return canonical(spec_to_json(stop))


def stop_from_bytes(body: bytes) -> Stop:
    """What `stop_to_bytes` wrote. Raises `ValueError` where it is none."""
    return from_json(Stop, decode(body))


def refuse_unkept(scope: StopScope) -> None:
    """Raise `MoveRefused` where what it names cannot be the name of anything."""
    for what in fields(scope):
        text = getattr(scope, what.name)
        if not isinstance(text, str) or len(text) > NAME_CHARS_MAX or not is_storable(text) or text != text.strip():
            raise MoveRefused(f"the {what.name} that is to be stopped is no name of one")
    if not scope.tenant:
        raise MoveRefused("say of which tenant: `*` is all of them")
