"""Orders calls that were proposed together: which must wait for which, and which depend on the success of which.

Reads run beside each other. Calls that share a lock run in the proposed order as soon as one of them is an effect;
effects that declare no lock share one. A declared dependency waits too, and needs the earlier call to have succeeded.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.core.freeze import canonical_id, filled
from interlock.core.frozen import frozen
from interlock.core.operation import Operation

UNDECLARED = "\x00effects"
"""The lock that effects of one turn share where they declare none."""


@frozen
class Member:
    """What the order of one call depends on."""

    tool: str
    is_effect: bool
    locks: frozenset[str]
    depends_on: tuple[str, ...] = ()


@frozen
class Place:
    """Where one call stands: positions (from 0) that it runs after, and those of them that must have succeeded."""

    after: frozenset[int]
    needs: frozenset[int]


FREE = Place(frozenset(), frozenset())


def lock_names(operation: Operation) -> frozenset[str]:
    """What must not be touched at the same time, canonical, tenant first; empty for a read that declares none."""
    spec = operation.tool.spec
    tenant, resource = operation.caller.principal.tenant, operation.resource
    if not spec.locks and resource is not None and spec.effect.is_effect:
        return frozenset((f"{tenant}\x1f{resource.name}",))  # as most effects
    names = {_canonical(name) for lock in spec.locks if (name := filled(lock, operation.values)) is not None}
    if resource is not None and spec.effect.is_effect:
        names.add(resource.name)
    return frozenset(f"{tenant}\x1f{name}" for name in names)


def _canonical(name: str) -> str:
    """`file:./a` is `file:a`: what stands before the first colon is a kind, and no part of a path."""
    kind, colon, rest = name.partition(":")
    return f"{kind}:{canonical_id(rest)}" if colon else canonical_id(name)


def member(operation: Operation) -> Member:
    """The part of an operation that orders it within its turn.

    A read is ordered by its resource, though it takes no lock on it; an effect that declares no lock stands in the
    order of the turn, though it may run beside those of other turns.
    """
    locks = lock_names(operation)
    if not locks and operation.spec.effect.is_effect:
        locks = frozenset({f"{operation.caller.principal.tenant}\x1f{UNDECLARED}"})
    if operation.resource is not None:
        locks |= {f"{operation.caller.principal.tenant}\x1f{operation.resource.name}"}
    return Member(operation.spec.name, operation.spec.effect.is_effect, locks, operation.spec.depends_on)


def no_operation(name: str) -> Member:
    """A call that is refused at once: it waits for none, and only what needs it to succeed waits for it."""
    return Member(name, is_effect=False, locks=frozenset())


def places(members: Sequence[Member]) -> tuple[Place, ...]:
    """The place of each call, in proposed order."""
    return tuple(_place(each, members[:index]) for index, each in enumerate(members))


def _place(call: Member, earlier: Sequence[Member]) -> Place:
    needs = {index for index, other in enumerate(earlier) if other.tool in call.depends_on}
    after = {index for index, other in enumerate(earlier) if _in_order(call, other)}
    return Place(frozenset(after | needs), frozenset(needs))


def _in_order(call: Member, other: Member) -> bool:
    return (call.is_effect or other.is_effect) and not call.locks.isdisjoint(other.locks)
