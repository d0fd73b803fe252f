"""Which version a tool's name means to a caller: a total function of agent, principal and catalogue, with its reason.

    pin of a run            the version that the run began with, while its agent may use the tool at all
    canary for a tenant     before canary for a share, before the version that is held, before the default

An agent that is not published, or a caller without one, has the default version of every tool. What an agent names and
is not here is refused: another version never takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from heapq import merge
from itertools import groupby
from typing import Final

from interlock.core.agents import PER_MILLE, Canary, Routes, ToolUse, Upgrade
from interlock.core.call import Caller, Principal
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.frozen import frozen

BUCKETS_REMEMBERED: Final = 16_384


class Why(StrEnum):
    """Why a name means what it means."""

    DEFAULT = "default"
    AUTOMATIC = "automatic"
    PINNED = "pinned"
    CANARY_TENANT = "canary_tenant"
    CANARY_SHARE = "canary_share"
    BOUND = "bound"
    NOT_LISTED = "not_listed"
    MISSING = "missing"
    UNKNOWN = "unknown"


@frozen
class Missing:
    """A name that means nothing that may run. `tool` is what the name means to others, where it means something."""

    why: Why
    version: str = ""
    tool: Tool | None = None


@frozen
class Chosen:
    """The version that is meant of a tool an agent lists; an empty one is the default."""

    version: str
    why: Why


def located(name: str, caller: Caller, catalogue: Catalogue) -> Tool | Missing:
    """The tool that this name means to this caller."""
    tenant, pin = caller.principal.tenant, caller.pin
    routes = catalogue.routes(tenant, caller.origin.agent) if catalogue.agents else None
    if routes is not None:
        use = routes.uses.get(name)
        if use is not None:
            return _version(use, caller, catalogue)
        if not routes.agent.others:
            default = catalogue.find(tenant, name)
            return Missing(Why.UNKNOWN if default is None else Why.NOT_LISTED, tool=default)
    found = catalogue.find(tenant, name) if pin is None else catalogue.pinned(tenant, name, digest=pin)
    return _without_code(tenant, name, catalogue) if found is None else found


def _version(use: ToolUse, caller: Caller, catalogue: Catalogue) -> Tool | Missing:
    tenant, pin, name = caller.principal.tenant, caller.pin, use.tool
    if pin is not None:
        return catalogue.pinned(tenant, name, digest=pin) or _without_code(tenant, name, catalogue)
    chosen = choose(use, caller.principal)
    default = catalogue.find(tenant, name)
    found = catalogue.numbered(tenant, name, chosen.version) if chosen.version else default
    if found is not None:
        return found
    return Missing(Why.MISSING, chosen.version, default) if chosen.version else _without_code(tenant, name, catalogue)


def _without_code(tenant: str, name: str, catalogue: Catalogue) -> Missing:
    """Of a name that means nothing here: which version it means where the code of that is, where there is one."""
    spec = catalogue.absent(tenant, name)
    return Missing(Why.UNKNOWN) if spec is None else Missing(Why.MISSING, spec.version)


def choose(use: ToolUse, principal: Principal) -> Chosen:
    """The version of a listed tool for this principal, and why."""
    canary = use.canary
    if canary is not None:
        if principal.tenant in canary.tenants:
            return Chosen(canary.version, Why.CANARY_TENANT)
        if is_in_share(canary, principal):
            return Chosen(canary.version, Why.CANARY_SHARE)
    if use.upgrade is Upgrade.AUTOMATIC:
        return Chosen("", Why.AUTOMATIC)
    return Chosen(use.version, Why.PINNED)


def is_in_share(canary: Canary, principal: Principal) -> bool:
    """Whether the principal on whose behalf a call is made has the canary's version by its share."""
    if not canary.per_mille:
        return False
    return bucket(canary.salt, principal.tenant, principal.on_behalf_of) < canary.per_mille


@lru_cache(BUCKETS_REMEMBERED)
def bucket(salt: str, tenant: str, whom: str) -> int:
    """Where somebody stands among a thousand: of nothing but these three, and evenly spread.

    Keyed, so that nobody can choose an id for the version that it leads to. The length parts tenant from person.
    """
    data = f"{len(tenant)}\x1f{tenant}{whom}".encode("utf-8", "surrogatepass")
    drawn = blake2b(data, digest_size=8, key=blake2b(salt.encode(), digest_size=32).digest()).digest()
    return int.from_bytes(drawn) * PER_MILLE >> 64


def tools_of(caller: Caller, catalogue: Catalogue) -> Iterable[Tool]:
    """The tools that this caller's agent may use, each in the version that its name means, ordered by name."""
    return list(tools_after(caller, catalogue, ""))


def tools_after(caller: Caller, catalogue: Catalogue, name: str) -> Iterator[Tool]:
    """The same from one name on, which is left out; who wants a few of many looks at these alone."""
    tenant = caller.principal.tenant
    routes = catalogue.routes(tenant, caller.origin.agent) if catalogue.agents else None
    if routes is None:
        yield from catalogue.after(tenant, name)
        return
    listed = sorted(each for each in routes.uses if each > name)
    others = (tool.spec.name for tool in catalogue.after(tenant, name)) if routes.agent.others else iter(())
    for each, _ in groupby(merge(listed, others)):
        found = located(each, caller.pinned(None), catalogue)
        if isinstance(found, Tool):
            yield found


def tools_near(caller: Caller, catalogue: Catalogue, name: str) -> dict[str, Tool]:
    """Tools that this caller's agent may use and that are called nearly like that; of many not all."""
    tenant = caller.principal.tenant
    routes = catalogue.routes(tenant, caller.origin.agent) if catalogue.agents else None
    names = {*(() if routes is None else routes.uses)}
    if routes is None or routes.agent.others:
        names.update(catalogue.near(tenant, name))
    found = ((each, located(each, caller.pinned(None), catalogue)) for each in sorted(names))
    return {each: tool for each, tool in found if isinstance(tool, Tool)}


def explained(name: str, caller: Caller, catalogue: Catalogue) -> tuple[Tool | Missing, Why, Routes | None]:
    """What `located` says, the reason for it, and the agent that it follows, where one is published."""
    found = located(name, caller, catalogue)
    routes = catalogue.routes(caller.principal.tenant, caller.origin.agent)
    if isinstance(found, Missing):
        return found, found.why, routes
    if caller.pin is not None:
        return found, Why.BOUND, routes
    use = None if routes is None else routes.uses.get(name)
    return found, Why.DEFAULT if use is None else choose(use, caller.principal).why, routes
