"""When a result of a read may be given again: for whom, to which operation, and until which effect.

Every effect on a type of resource that cached reads read counts in a scope of its own, from its claim on. While one is
on its way, or its outcome is unknown, nothing is kept or given again; once it has ended the count has changed, and what
was kept under an older one never fits again. So no process has to tell another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from interlock.core.budget import ONE_CALL, Counted, Reservation, ScopeKey, ScopeKind, Usage
from interlock.core.canonical import canonical
from interlock.core.facts import Facts
from interlock.core.frozen import frozen
from interlock.core.operation import Operation
from interlock.core.policy import Verdict
from interlock.core.tool import CacheRule, ResourceRule, ToolSpec, spec_to_json

ANY = "*"
"""The scope of reads that do not say what they read: every effect counts in it."""


@frozen
class CacheKey:
    """What must be the same for a result to be given again. `credentials` is a fingerprint of those the tool gets.

    `principal` is all that is known of who asks, `version` what a resolver says of the resource today.
    """

    tenant: str
    principal: bytes
    credentials: bytes
    tool: str
    policy: str
    redact: frozenset[str]
    arguments: bytes
    version: str | None = None


class Caching(Protocol):
    """A spec, as far as it says what is cached."""

    @property
    def cache(self) -> CacheRule | None: ...
    @property
    def resource(self) -> ResourceRule | None: ...


def types_read_by(spec: Caching) -> tuple[str, ...]:
    """The types of resource that a cached read reads."""
    if spec.cache is None:
        return ()
    return spec.cache.reads or (() if spec.resource is None else (spec.resource.type,)) or (ANY,)


def counted_effects(operation: Operation, types: frozenset[str]) -> tuple[Reservation, ...]:
    """What an effect takes so that what was read before it is not given again; nothing where no read is cached."""
    spec = operation.tool.spec
    if not types or not spec.effect.is_effect:
        return ()
    tenant = operation.caller.principal.tenant
    return tuple(Reservation(_scope(tenant, kind), ONE_CALL) for kind in sorted(types) if touches(spec, (kind,)))


def touches(spec: ToolSpec, types: Iterable[str]) -> bool:
    """Whether an effect of this tool may change what a read of these types reads."""
    return spec.resource is None or any(kind in (spec.resource.type, ANY) for kind in types)


def scopes_read_by(operation: Operation) -> tuple[ScopeKey, ...]:
    """The scopes that tell whether what a cached read has read is still as it was."""
    return tuple(_scope(operation.caller.principal.tenant, kind) for kind in types_read_by(operation.tool.spec))


def generation(usage: Iterable[Counted]) -> tuple[int, ...] | None:
    """How many effects there were on each; None while one is on its way, or its outcome is unknown."""
    found = tuple(map(Usage.read, usage))
    if any(each.held.calls for each in found):
        return None
    return tuple(each.used.calls for each in found)


def cache_key(operation: Operation, facts: Facts, verdict: Verdict, *, credentials: bytes) -> CacheKey:
    """The key of a read that policy allows now."""
    principal = operation.caller.principal
    return CacheKey(
        principal.tenant,
        canonical(spec_to_json(principal)),
        credentials,
        operation.tool.digest,
        facts.slice.digest,
        verdict.redact,
        operation.arguments,
        None if facts.resource is None else facts.resource.version,
    )


def _scope(tenant: str, kind: str) -> ScopeKey:
    return ScopeKey(tenant, ScopeKind.EFFECTS, kind)
