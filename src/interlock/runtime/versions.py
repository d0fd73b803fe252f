"""The published versions that a process knows, found by what they are asked for at no look at all the others."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from interlock.core.cache import types_read_by
from interlock.core.canonical import decode
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.lifecycle import OPEN, Lifecycle
from interlock.core.listed import NO_ARGUMENTS, Identity, Listed, listed, spec_in, uses_of
from interlock.core.retirement import Retirement, read
from interlock.core.tool import Document, Entrypoint, ToolSpec
from interlock.ports import Registered

log = logging.getLogger("interlock.catalogue")

Named = tuple[str, str]
"""A tenant and a name."""


class Versions:
    """As the store had them at one epoch, oldest first.

    They go on changing while a change of the catalogue is decided on them: it is written at that epoch or not at all.
    `cached` are the types of resource that a cached read of any version reads: one that is closed, or not the default
    here, may run elsewhere.
    """

    def __init__(self) -> None:
        self.cached: frozenset[str] = frozenset()
        self._rows: dict[Identity, Registered] = {}
        self._by_name: dict[Named, dict[str, Registered]] = {}
        self._tenants: dict[str, tuple[str, ...]] = {}
        self._by_digest: dict[str, Identity] = {}
        self._naming: dict[str, dict[Identity, None]] = {}
        self._replaced: dict[str, dict[Identity, None]] = {}
        self._listed: dict[str, Listed] = {}

    def __iter__(self) -> Iterator[Registered]:
        return iter(self._rows.values())

    def put(self, row: Registered, *, spec: ToolSpec | None) -> None:
        """Learn of a version as it is now. `spec` is what its code here says, if it is here."""
        place = _identity(row)
        before = self._rows.get(place)
        self._rows[place] = row
        self._by_name.setdefault((row.tenant, row.name), {})[row.source + "\0" + row.version] = row
        if row.retirement or (before is not None and before.retirement):
            self._replaces(place, row, before)
        if before is None:
            self._by_digest[row.digest] = place
            known = self._tenants.get(row.name, ())
            if row.tenant not in known:
                self._tenants[row.name] = (*known, row.tenant)
            self._note(place, spec or self.listed(row))

    def get(self, place: Identity) -> Registered | None:
        """One version."""
        return self._rows.get(place)

    def of(self, tenant: str, name: str) -> tuple[Registered, ...]:
        """The versions of a tenant's own tool."""
        return tuple(self._by_name.get((tenant, name), {}).values())

    def named(self, name: str, tenants: Iterable[str]) -> tuple[Registered, ...]:
        """The versions of a name that one of these tenants has."""
        return tuple(row for tenant in dict.fromkeys(tenants) for row in self.of(tenant, name))

    def tenants(self, name: str) -> tuple[str, ...]:
        """Who has a tool of this name."""
        return self._tenants.get(name, ())

    def digested(self, digest: str) -> Registered | None:
        """The version that was ever published with this digest."""
        place = self._by_digest.get(digest)
        return None if place is None else self._rows[place]

    def naming(self, name: str) -> tuple[Registered, ...]:
        """Those whose specs name this tool: to be undone by it, to fall back on it, as what they depend on."""
        return tuple(self._rows[place] for place in self._naming.get(name, ()))

    def replaced_with(self, name: str) -> tuple[tuple[Registered, Retirement], ...]:
        """Those that are to go and whose place this tool takes, with what was said of it."""
        found = [(row, going_of(row)) for row in (self._rows[place] for place in self._replaced.get(name, ()))]
        return tuple((row, going) for row, going in found if going is not None)

    def listed(self, row: Registered) -> Listed:
        """What is listed of a version: read once, and said once where it cannot be."""
        found = self._listed.get(row.digest)
        if found is None:
            found = self._listed[row.digest] = listed(_identity(row), digest=row.digest, text=row.spec)
            if not found.is_read:
                log.error("the stored spec of %s %s of %s cannot be read", row.name, row.version, row.tenant)
        return found

    def _note(self, place: Identity, said: ToolSpec | Listed) -> None:
        """What others have to find of a version that is new."""
        for name in said.uses if isinstance(said, Listed) else uses_of(said):
            self._naming.setdefault(name, {})[place] = None
        if said.cache is not None:
            self.cached = self.cached.union(types_read_by(said))

    def _replaces(self, place: Identity, row: Registered, before: Registered | None) -> None:
        for name in _instead(before):
            self._replaced.get(name, {}).pop(place, None)
        for name in _instead(row):
            self._replaced.setdefault(name, {})[place] = None


def spec_of(row: Registered) -> ToolSpec:
    """The whole spec of a version. Raises `SpecInvalid` where it cannot be read."""
    return spec_in(row.spec, name=row.name, version=row.version)


def contract_of(row: Registered) -> Document:
    """The spec of a version as it is stored, whatever this program knows of it. Raises `SpecInvalid`."""
    try:
        return Document.of(decode(row.spec))
    except ValueError as fault:
        raise SpecInvalid(f"the stored spec of {row.name} {row.version} cannot be read: {fault}") from None


def spec_to_move(row: Registered, to: Lifecycle) -> ToolSpec:
    """The spec of a version that is to move. One that cannot be read opens nothing, and closes as what it is called.

    Raises `SpecInvalid`.
    """
    try:
        return spec_of(row)
    except SpecInvalid:
        if to in OPEN:
            raise
        return ToolSpec(
            name=row.name,
            description="",
            input_schema=NO_ARGUMENTS,
            handler=Entrypoint("", "", ""),
            effect=Effect.DESTRUCTIVE,
            tenant=row.tenant,
            source=row.source,
            version=row.version,
        )


def going_of(row: Registered) -> Retirement | None:
    """What was said of a version's retirement; None too where it cannot be read."""
    try:
        return read(row.retirement)
    except ValueError:
        log.error("what was said of the retirement of %s %s cannot be read", row.name, row.version)  # noqa: TRY400
        return None


def _instead(row: Registered | None) -> tuple[str, ...]:
    going = None if row is None else going_of(row)
    return () if going is None or going.replacement is None else (going.replacement.name,)


def _identity(row: Registered) -> Identity:
    return row.tenant, row.source, row.name, row.version
