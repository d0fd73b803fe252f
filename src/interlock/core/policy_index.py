"""The tools of an installation as policies find them: by the action that a scope names, with their types by tenant.

An index never changes; one with a few other tools shares the rest with it, and costs no look at the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from interlock.core.policy_schema import action_groups, action_name, resource_type
from interlock.core.tool import SHARED, ToolSpec

Identity = tuple[str, str, str, str]
Change = tuple[ToolSpec | None, ToolSpec]
"""A version that took the place of another, or that is new."""


class Index:
    """Each version once. Of `SHARED` are all tools, of a tenant its own and the shared ones."""

    def __init__(self, specs: Iterable[ToolSpec] = ()) -> None:
        self._by_action: dict[str, dict[Identity, ToolSpec]] = {}
        self._types: dict[str, Counter[str]] = {}
        self._resolved: dict[str, Counter[str]] = {}
        for spec in specs:
            self._count(spec, 1)
            for name in actions_of(spec):
                self._by_action.setdefault(name, {})[spec.identity] = spec

    def changed(self, changes: Iterable[Change]) -> Index:
        """The same with these changes."""
        new, owned = Index(), set[str]()
        new._by_action = self._by_action.copy()
        new._types = {tenant: types.copy() for tenant, types in self._types.items()}
        new._resolved = {tenant: types.copy() for tenant, types in self._resolved.items()}
        for old, spec in changes:
            if old is not None:
                new._put(old, owned, is_there=False)
            new._put(spec, owned, is_there=True)
        return new

    def tools(self, action: str, tenant: str) -> Iterator[ToolSpec]:
        """The tools of a tenant whose action is this one, or in this group of actions."""
        found = self._by_action.get(action, {}).values()
        return (spec for spec in found if SHARED in (tenant, spec.tenant) or spec.tenant == tenant)

    def has(self, action: str, tenant: str) -> bool:
        """Whether there is one."""
        return next(self.tools(action, tenant), None) is not None

    def actions(self, tenant: str) -> Iterator[str]:
        """The actions of all tools of a tenant, for people."""
        return (name for name in self._by_action if self.has(name, tenant))

    def types(self, tenant: str) -> frozenset[str]:
        """The types of what the tools of a tenant touch."""
        return _seen(self._types, tenant)

    def resolved(self, tenant: str) -> frozenset[str]:
        """Those of them whose attributes a resolver gives."""
        return _seen(self._resolved, tenant)

    def _put(self, spec: ToolSpec, owned: set[str], *, is_there: bool) -> None:
        self._count(spec, 1 if is_there else -1)
        for name in actions_of(spec):
            if name not in owned:
                owned.add(name)
                self._by_action[name] = self._by_action.get(name, {}).copy()
            if is_there:
                self._by_action[name][spec.identity] = spec
            else:
                self._by_action[name].pop(spec.identity, None)

    def _count(self, spec: ToolSpec, by: int) -> None:
        type_ = resource_type(spec)
        self._types.setdefault(spec.tenant, Counter())[type_] += by
        if spec.resource is not None and spec.resource.resolved:
            self._resolved.setdefault(spec.tenant, Counter())[type_] += by


def actions_of(spec: ToolSpec) -> tuple[str, ...]:
    """Every action that reaches a tool."""
    return (action_name(spec.name), *action_groups(spec))


def _seen(types: Mapping[str, Counter[str]], tenant: str) -> frozenset[str]:
    owners = types if tenant == SHARED else (SHARED, tenant)
    return frozenset(type_ for owner in owners for type_, count in types.get(owner, Counter[str]()).items() if count)
