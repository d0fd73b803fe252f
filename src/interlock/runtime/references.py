"""Finds what rests on a version: agents, open runs, questions that wait, examples, policies and other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from interlock.core.approval import Approval
from interlock.core.canonical import Json, canonical, decode
from interlock.core.documents import Document, DocumentKind
from interlock.core.example_names import is_case, tool_of, words_of
from interlock.core.lifecycle import Lifecycle
from interlock.core.references import References, resting_on
from interlock.core.retirement import read
from interlock.core.tool import SHARED, ToolSpec
from interlock.core.typed import from_json
from interlock.ports import Registered
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

    async def of(self, found: Registered, versions: Sequence[Registered], *, at_once: bool = False) -> References:
        """All that rests on it; `at_once`: without looking at runs, which takes as long as there are open ones."""
        tenant = None if found.tenant == SHARED else found.tenant
        is_last = not any(_is_other(each, found) for each in versions)
        runs = () if at_once or self.open_runs is None else await self.open_runs(found.digest, tenant=tenant)
        theirs = _who_mean(found)
        among = tuple(each for each in versions if theirs(each.tenant))
        examples = await self._about(DocumentKind.EXAMPLE, found, theirs=theirs)
        return References(
            agents=await self._agents(found, theirs=theirs),
            runs=runs,
            approvals=tuple(f"{each.tenant}/{each.id}" for each in await self.waiting(found)),
            examples=tuple(each for each in examples if not is_case(each)),
            cases=tuple(words_of(each) for each in examples if is_case(each)),
            policies=self._views.current.policies.naming(found.name, tenant=tenant),
            tools=resting_on(found.name, _specs_naming(found.name, among)) if is_last else (),
            replaces=tuple(_replaced_by(found, among)),
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


def _specs_naming(name: str, versions: Sequence[Registered]) -> Iterator[ToolSpec]:
    """Those in which this name stands as a text of its own. Reading a spec is slow, and what closes must not wait."""
    text = canonical(name)
    found = (each for each in versions if text in each.spec and each.state is not Lifecycle.RETIRED)
    return (from_json(ToolSpec, decode(each.spec)) for each in found)


def _replaced_by(found: Registered, versions: Sequence[Registered]) -> Iterator[str]:
    """Versions that say that this one takes their place."""
    for each in versions:
        going = read(each.retirement) if each.retirement else None
        instead = None if going is None else going.replacement
        if instead is None or instead.name != found.name or each.digest == found.digest:
            continue
        if instead.version == found.version or (not instead.version and not _others_open(found, versions)):
            yield f"{each.name} {each.version}"


def _others_open(found: Registered, versions: Sequence[Registered]) -> bool:
    return any(_is_other(each, found) for each in versions)
