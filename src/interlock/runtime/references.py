"""Finds what rests on a version: agents, open runs, questions that wait, examples, policies and other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Protocol

from interlock.core.approval import Approval
from interlock.core.canonical import Json, decode
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import SpecInvalid
from interlock.core.example_names import is_case, tool_of, words_of
from interlock.core.lifecycle import Lifecycle
from interlock.core.references import References, resting_on
from interlock.core.tool import SHARED, ToolSpec
from interlock.ports import Registered
from interlock.runtime.versions import Versions, spec_of
from interlock.runtime.views import Views
from interlock.runtime.voids import LIVE
from interlock.runtime.world import World


class OpenRuns(Protocol):
    """Finds the open runs that are bound to a version, as `tenant/run`."""

    async def __call__(self, digest: str, *, tenant: str | None) -> tuple[str, ...]: ...


Means = Callable[[str], bool]
"""Whether a tenant means a version by its name."""


class Referrers:
    """Looks for what rests on versions. `open_runs` is there once somebody who knows runs has said how."""

    def __init__(self, world: World, *, views: Views) -> None:
        self._world = world
        self._views = views
        self.open_runs: OpenRuns | None = None

    async def of(self, found: Registered, versions: Versions, *, at_once: bool = False) -> References:
        """All that rests on it; `at_once`: without looking at runs, which takes as long as there are open ones."""
        tenant = None if found.tenant == SHARED else found.tenant
        is_last = not _others_open(found, versions)
        runs = () if at_once or self.open_runs is None else await self.open_runs(found.digest, tenant=tenant)
        theirs = _who_mean(found)
        examples = await self._about(DocumentKind.EXAMPLE, found, theirs=theirs)
        return References(
            agents=await self._agents(found, theirs=theirs),
            runs=runs,
            approvals=tuple(f"{each.tenant}/{each.id}" for each in await self.waiting(found)),
            examples=tuple(words_of(each) for each in examples if not is_case(each)),
            cases=tuple(words_of(each) for each in examples if is_case(each)),
            policies=self._views.current.policies.naming(found.name, tenant=tenant),
            tools=resting_on(found.name, _specs_naming(found.name, versions, theirs=theirs)) if is_last else (),
            replaces=tuple(_replaced_by(found, versions, theirs=theirs)),
            runs_looked=not at_once and self.open_runs is not None,
        )

    async def waiting(self, found: Registered) -> tuple[Approval, ...]:
        """Approvals that wait for a decision or for their use, of calls of this version."""
        tenant = None if found.tenant == SHARED else found.tenant
        live = [each for state in LIVE for each in await self._world.approvals.approvals(tenant, state)]
        bound = (found.name, found.version)
        return tuple(each for each in live if (each.binding.tool, each.binding.version) == bound)

    async def _agents(self, found: Registered, *, theirs: Means) -> tuple[str, ...]:
        _, documents = await self._world.documents.documents(DocumentKind.AGENT)
        return tuple(
            f"{each.tenant}/{each.name}: {how}"
            for each in documents
            if theirs(each.tenant)
            for how in _uses(each, found)
        )

    async def _about(self, kind: DocumentKind, found: Registered, *, theirs: Means) -> tuple[str, ...]:
        _, documents = await self._world.documents.documents(kind)
        return tuple(each.name for each in documents if theirs(each.tenant) and tool_of(each.name) == found.name)


def _who_mean(found: Registered) -> Means:
    """The tenants whose tools, agents and examples mean this one by its name: others may have one of the same name."""
    return frozenset({found.tenant, SHARED}).__contains__ if found.tenant != SHARED else lambda _: True


def _uses(document: Document, found: Registered) -> Iterator[str]:
    """How an agent uses a version: held at it, on trial there, or able to go back to it."""
    try:
        body = decode(document.body)
    except ValueError:
        return
    tools = body.get("tools") if isinstance(body, dict) else None
    for use in tools if isinstance(tools, list) else ():
        if not isinstance(use, dict) or use.get("tool") != found.name:
            continue
        named: dict[str, Json] = {"held": use, **{how: use.get(how) for how in ("canary", "shadow", "earlier")}}
        yield from (how for how, at in named.items() if isinstance(at, dict) and at.get("version") == found.version)
        if not use.get("version"):
            yield "follows the default"


def _is_other(each: Registered, found: Registered) -> bool:
    """Whether another version of the same name is there that is not retired."""
    same = (each.tenant, each.name) == (found.tenant, found.name)
    return same and each.digest != found.digest and each.state is not Lifecycle.RETIRED


def _specs_naming(name: str, versions: Versions, *, theirs: Means) -> Iterator[ToolSpec]:
    """Those that name this one. Reading a spec is slow, and what closes must not wait for others."""
    rows = (each for each in versions.naming(name) if theirs(each.tenant) and each.state is not Lifecycle.RETIRED)
    for each in rows:
        with suppress(SpecInvalid):  # what cannot be read is said where it is listed
            yield spec_of(each)


def _replaced_by(found: Registered, versions: Versions, *, theirs: Means) -> Iterator[str]:
    """Versions that say that this one takes their place."""
    for each, going in versions.replaced_with(found.name):
        instead = going.replacement
        if instead is None or not theirs(each.tenant) or each.digest == found.digest:
            continue
        if instead.version == found.version or (not instead.version and not _others_open(found, versions)):
            yield f"{each.name} {each.version}"


def _others_open(found: Registered, versions: Versions) -> bool:
    return any(_is_other(each, found) for each in versions.of(found.tenant, found.name))
