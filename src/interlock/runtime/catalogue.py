"""Publishes versions of tools, on record, and finds, lists and compares what is published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from interlock.core.call import Principal
from interlock.core.catalogue import Tool
from interlock.core.choice import ALWAYS
from interlock.core.compatibility_versions import predecessor
from interlock.core.compensation import wrong_with
from interlock.core.decision import Deny
from interlock.core.errors import PolicyInvalid, SpecInvalid, ToolUnknown, VersionExists
from interlock.core.functions import Declaration
from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle, first_state
from interlock.core.policy import PolicySource
from interlock.core.review_rules import DEFAULTS, ReviewRules
from interlock.core.spec_changes import SpecChange, spec_changes, told
from interlock.core.tool import SHARED, ToolSpec, spec_digest, spec_to_bytes, spec_to_json
from interlock.core.tool_parts import parts_of
from interlock.ports import Registered
from interlock.runtime.acts import only_operators, signed_by
from interlock.runtime.changes import Planned, carry_out
from interlock.runtime.common import Common
from interlock.runtime.packs import published
from interlock.runtime.versions import Versions, spec_of

if TYPE_CHECKING:
    from interlock.core.compatibility import Comparison
    from interlock.core.review import Review
    from interlock.runtime.review import ReviewDesk


class Publishing:
    """What is published, and how its versions compare. Owned by the gate's host."""

    def __init__(self, common: Common) -> None:
        self._common = common
        self._reviews: ReviewDesk | None = None
        self._bind: Callable[[Declaration], object] | None = None

    def bind_with(self, bind: Callable[[Declaration], object]) -> None:
        """Have the code of tools that are registered later be bound by somebody who runs it."""
        self._bind = bind

    async def register(
        self,
        tools: Iterable[ToolSpec | Declaration],
        *,
        by: Principal,
        under: tuple[PolicySource, ...] | None = None,
    ) -> tuple[ToolSpec, ...]:
        """Publish versions as one change; those published already are left as they are.

        What `@tool`, a manifest or an import gave can be called here from now on; a spec alone where its code is.
        `under` are policies that the caller saves next: the new versions have to fit them, not those that they replace.
        A new version is available at once, a candidate where moves are held to their gates, and frozen while its name
        is: where versions of it are frozen and none is open.

        Raises `ActRefused`, `VersionExists` where a published version would change or two tools are called the same,
        `SpecInvalid` where a name is taken by another source or by a shared tool, or a version breaks what its number
        promises to keep, `PolicyInvalid` where the policies do not fit a new version. Then nothing is published.
        """
        given = tuple(tools)
        wanted = tuple(each if isinstance(each, ToolSpec) else each.spec() for each in given)
        only_operators(by, "Publishing tools", tenants={spec.tenant for spec in wanted}, home=self._common.home)
        for each in given:
            if not isinstance(each, ToolSpec) and self._bind is not None:
                self._bind(each)
        new = await carry_out(
            self._common.world, self._common.views, partial(self._publication, wanted, by=by, under=under or ())
        )
        with suppress(PolicyInvalid) if under is not None else nullcontext():
            await self._common.views.refresh()
        return new

    async def _publication(
        self,
        wanted: tuple[ToolSpec, ...],
        versions: Versions,
        *,
        by: Principal,
        under: tuple[PolicySource, ...],
    ) -> Planned[tuple[ToolSpec, ...]]:
        """What publishing these comes to, on the versions that there are."""
        wanted = _each_once(wanted)
        known = _of_tools(wanted, versions)
        new = [spec for spec in wanted if _is_new(spec, versions.get(spec.identity))]
        _refuse_clashes(wanted, versions)
        _refuse_what_nothing_undoes(new, wanted, versions=versions)
        _refuse_broken_promises(new, known)
        states = [first_state(_states(known[spec.identity[:3]]), gated=self._common.gated) for spec in new]
        found = tuple(_registered(spec, state) for spec, state in zip(new, states, strict=True))
        tools = [Tool(spec, each.digest, each.state) for spec, each in zip(new, found, strict=True)]
        self._common.views.add(wanted, compiled=tools)
        if not found:
            return Planned(())
        await self._common.views.check(found, under=under)
        record = {"subject": new[0].name, **signed_by(by), "tools": [_named(each) for each in found]}
        event = self._common.records.act(EventKind.TOOL_REGISTERED, by.tenant, record)
        now_us = self._common.world.clock.now_us()
        documents = tuple(published(each, by=by, at_us=now_us) for each in found) if self._common.gated else ()
        return Planned(tuple(new), found, documents, event)

    async def know(self, specs: Iterable[ToolSpec]) -> None:
        """Bring code into view without publishing any: what is published as it is here can be called."""
        self._common.views.add(specs)
        await self._common.views.refresh()

    async def changed(self, specs: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
        """Those of them whose version is published with another digest: they take a new version."""
        _, versions = await self._common.views.versions()
        found = ((spec, versions.get(spec.identity)) for spec in specs)
        return tuple(spec for spec, held in found if held is not None and held.digest != spec_digest(spec))

    async def changes(self, spec: ToolSpec) -> tuple[SpecChange, ...]:
        """In which fields a spec is another than the published version of its number; empty where it is not."""
        _, versions = await self._common.views.versions()
        found = versions.get(spec.identity)
        return () if found is None or found.digest == spec_digest(spec) else _changes(found, spec)

    async def coming(self, specs: Iterable[ToolSpec]) -> tuple[Registered, ...]:
        """What publishing these would add."""
        _, versions = await self._common.views.versions()
        return tuple(_registered(spec) for spec in specs if versions.get(spec.identity) is None)

    def get(self, name: str, *, version: str = "", tenant: str = SHARED) -> Tool:
        """The default version of a name, or another whose code is here. Raises `ToolUnknown`."""
        catalogue = self._common.views.current.catalogue
        tool = catalogue.numbered(tenant, name, version) if version else catalogue.find(tenant, name)
        if tool is None:
            which = f" with the code of version {version!r} here" if version else ""
            raise ToolUnknown(f"there is no tool named {name!r}{which}")
        return tool

    async def list_versions(self, name: str, *, tenant: str = SHARED) -> tuple[Registered, ...]:
        """Every published version of a name, oldest first, callable here or not."""
        return await self._common.versions(name, tenant=tenant)

    async def all_versions(self, *, tenant: str = SHARED) -> tuple[Registered, ...]:
        """Every version of every name that a tenant has, or that all share, oldest first."""
        _, versions = await self._common.views.versions()
        return tuple(each for each in versions if each.tenant in (tenant, SHARED))

    async def diff(self, name: str, old: str, new: str, *, tenant: str = SHARED) -> Comparison:
        """What changed between two published versions of a name, whichever was first. Raises `ToolUnknown`."""
        versions = await self._common.versions(name, tenant=tenant)
        before, after = (_version_of(name, each, versions) for each in (old, new))
        return _compared(before, after)

    async def successions(self, specs: Iterable[ToolSpec]) -> tuple[Comparison, ...]:
        """How versions that are not published yet would follow the last one of their name. Publishes nothing."""
        wanted = tuple(specs)
        known = _of_tools(wanted, (await self._common.views.versions())[1])
        rows = {spec.identity: known[spec.identity[:3]] for spec in wanted}
        new = [spec for spec in wanted if (held := rows[spec.identity]) and not _versioned(spec.version, held)]
        lasts = [_nearest(spec, rows[spec.identity]) or rows[spec.identity][-1] for spec in new]
        return tuple(_compared(spec_of(last), spec) for last, spec in zip(lasts, new, strict=True))

    async def review(
        self,
        *,
        by: Principal,
        since_us: int | None = None,
        tenant: str | None = None,
        rules: ReviewRules = DEFAULTS,
    ) -> Review | Deny:
        """What each tool is worth by the log of the tenant of `by`, what is missing, and what might be done; see
        `core.review`. It takes an auditor or operator, is itself on record, and changes nothing.
        """
        if self._reviews is None:
            from interlock.runtime.review import ReviewDesk

            self._reviews = ReviewDesk(self._common.world, self._common.records, home=self._common.home)
        return await self._reviews.review(by=by, since_us=since_us, tenant=tenant, rules=rules)


_Tool = tuple[str, str, str]
"""A tenant, a source and a name."""


def _of_tools(wanted: Iterable[ToolSpec], versions: Versions) -> Mapping[_Tool, list[Registered]]:
    """The versions of each of these tools, oldest first."""
    return {
        spec.identity[:3]: [each for each in versions.of(spec.tenant, spec.name) if each.source == spec.source]
        for spec in wanted
    }


def _versioned(version: str, rows: Iterable[Registered]) -> Registered | None:
    return next((each for each in rows if each.version == version), None)


def _states(rows: Iterable[Registered]) -> frozenset[Lifecycle]:
    return frozenset(each.state for each in rows)


def _is_new(spec: ToolSpec, found: Registered | None) -> bool:
    if found is not None and found.digest != spec_digest(spec):
        changes = _changes(found, spec)
        raise VersionExists(
            f"{spec.name} {spec.version} is published already and has changed since ({told(changes)}); give it a new"
            " version",
            changes,
        )
    return found is None


def _changes(published: Registered, spec: ToolSpec) -> tuple[SpecChange, ...]:
    return spec_changes(spec_to_json(spec_of(published)), spec_to_json(spec))


def _each_once(wanted: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    """What was given twice, once. Two tools that are called the same are no tool: neither takes the other's place."""
    found: dict[tuple[str, ...], ToolSpec] = {}
    for spec in wanted:
        first = found.setdefault(spec.identity, spec)
        if first is not spec and spec_digest(first) != spec_digest(spec):
            raise VersionExists(
                f"two tools are called {spec.name} {spec.version}: {first.handler.target} and {spec.handler.target}; "
                "give one of them another name",
                spec_changes(spec_to_json(first), spec_to_json(spec)),
            )
    return tuple(found.values())


_OWN: Final = "interlock.declare."
"""What the code of the gate's own tools is called by: runs know these tools by their names alone."""


def _refuse_clashes(wanted: Iterable[ToolSpec], versions: Versions) -> None:
    """One name means one tool for every tenant that can see it."""
    owners: dict[tuple[str, str], str] = {}
    tenants: dict[str, set[str]] = {}
    for spec in wanted:
        for tenant in versions.tenants(spec.name):
            owners.setdefault((tenant, spec.name), versions.of(tenant, spec.name)[-1].source)
        if spec.name.lower() in ALWAYS and not spec.handler.target.startswith(_OWN):
            raise SpecInvalid(f"{spec.name} is what a tool of the gate itself is called; give this one another name")
        taken = owners.get((spec.tenant, spec.name))
        if taken is not None and taken != spec.source:
            raise SpecInvalid(f"{spec.name} is taken by a tool of the source {taken}")
        owners[spec.tenant, spec.name] = spec.source
        tenants.setdefault(spec.name, {*versions.tenants(spec.name)}).add(spec.tenant)
    for name, them in tenants.items():
        if SHARED in them and len(them) > 1:
            raise SpecInvalid(f"{name} is a shared tool; {min(them - {SHARED})} cannot have another of that name")


def _refuse_what_nothing_undoes(new: Iterable[ToolSpec], wanted: Iterable[ToolSpec], *, versions: Versions) -> None:
    """What a tool names to undo it has to be there, and to take what it would be called with."""
    here = {(each.tenant, each.name): each for each in wanted}
    for spec in (each for each in new if each.compensate):
        places = [(tenant, spec.compensate) for tenant in (spec.tenant, SHARED)]
        other = next((here[place] for place in places if place in here), None)
        stored = next((rows[-1] for place in places if (rows := versions.of(*place))), None)
        if other is None and stored is not None:
            other = spec_of(stored)
        wrong = "; ".join(wrong_with(spec, other))
        if wrong:
            raise SpecInvalid(f"{spec.name}: {wrong}")


def _refuse_broken_promises(new: Iterable[ToolSpec], known: Mapping[_Tool, list[Registered]]) -> None:
    """A version that breaks something takes a number that says so, beside those that come with it too."""
    here = [*new]
    coming: dict[_Tool, list[ToolSpec]] = {}
    for spec in here:
        coming.setdefault(spec.identity[:3], []).append(spec)
    for spec in here:
        beside = [_registered(each) for each in coming[spec.identity[:3]] if each is not spec]
        last = _nearest(spec, [*known[spec.identity[:3]], *beside])
        comparison = None if last is None else _compared(spec_of(last), spec)
        if comparison is not None and comparison.breaks_its_promise:
            raise SpecInvalid(
                f"{spec.name} {spec.version} breaks what {comparison.old_version} promised, and its number says that it"
                f" does not; give it a new major version. {_told(comparison)}"
            )


def _compared(old: ToolSpec, new: ToolSpec) -> Comparison:
    from interlock.core.compatibility import compare

    return compare(old, new)


def _told(comparison: Comparison) -> str:
    from interlock.core.compatibility import told

    return told(comparison)


def _nearest(spec: ToolSpec, versions: Iterable[Registered]) -> Registered | None:
    """The published version that this one's number promises to be compatible with."""
    known = {each.version: each for each in versions}
    found = predecessor(spec.version, known)
    return None if found is None else known[found]


def _version_of(name: str, version: str, versions: Iterable[Registered]) -> ToolSpec:
    known = {each.version: each for each in versions}
    if version not in known:
        there = f"there are {', '.join(known)}" if known else "there is none of that name"
        raise ToolUnknown(f"{name} has no version {version!r}; {there}")
    return spec_of(known[version])


def _registered(spec: ToolSpec, state: Lifecycle = Lifecycle.AVAILABLE) -> Registered:
    """The version as it is stored, once it is seen that a tool follows from its spec: that is not kept."""
    parts_of(spec)
    text = spec_to_bytes(spec)
    return Registered(spec.tenant, spec.source, spec.name, spec.version, spec_digest(spec), state, text)


def _named(found: Registered) -> dict[str, str]:
    return {
        "tenant": found.tenant,
        "name": found.name,
        "version": found.version,
        "source": found.source,
        "spec": found.digest,
    }
