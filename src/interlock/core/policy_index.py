"""The tools of an installation as policies find them: by the action that a scope names, with their types by tenant.

An index never changes; one with a few other tools shares the rest with it, and costs no look at the others. Tools of a
tenant that are in the same groups of actions and touch the same type of resource stand together: a policy that names
none and reads no arguments cannot tell them apart, so one stands for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from interlock.core.layers import Changing, Layers
from interlock.core.listed import Contract, Identity, Listed
from interlock.core.policy_schema import GROUPS, action_groups, action_name, resource_type
from interlock.core.tool import SHARED

Change = tuple[Contract | None, Contract]
"""A version that took the place of another, or that is new."""

Kind = tuple[str, tuple[str, ...], str]
"""What tools that stand together have in common: tenant, groups of actions, and type of resource."""

_NONE: Layers[Identity, Contract] = Layers()


class Index:
    """Each version once. Of `SHARED` are all tools, of a tenant its own and the shared ones."""

    def __init__(self, specs: Iterable[Contract] = ()) -> None:
        named: dict[str, tuple[Contract, ...]] = {}
        alike: dict[Kind, dict[Identity, Contract]] = {}
        self._types: dict[str, Counter[str]] = {}
        self._resolved: dict[str, Counter[str]] = {}
        for spec in specs:
            self._count(spec, 1)
            name = action_name(spec.name)
            named[name] = (*named.get(name, ()), spec)
            if is_read(spec):
                alike.setdefault(kind_of(spec), {})[spec.identity] = spec
        self._named = Layers(named)
        self._alike = {kind: Layers(each) for kind, each in alike.items()}

    def changed(self, changes: Iterable[Change]) -> Index:
        """The same with these changes."""
        changes = tuple(changes)
        new, tenants = Index(), {spec.tenant for _, spec in changes}
        new._types, new._resolved = _own(self._types, tenants), _own(self._resolved, tenants)
        named, alike = Changing(self._named), dict[Kind, Changing[Identity, Contract]]()
        for each, becomes in chain.from_iterable(((old, None), (spec, spec)) for old, spec in changes):
            if each is None:
                continue
            new._count(each, -1 if becomes is None else 1)
            _put(named, each, becomes)
            if is_read(each):
                of_kind = alike.setdefault(kind_of(each), Changing(self._alike.get(kind_of(each), _NONE)))
                of_kind.put(each.identity, becomes)
        new._named = named.finish()
        new._alike = {**self._alike, **{kind: each.finish() for kind, each in alike.items()}}
        return new

    def tools(self, action: str, tenant: str) -> Iterator[Contract]:
        """The tools of a tenant whose action is this one, or in this group of actions."""
        if action in GROUPS:
            return (spec for kind in self.kinds(tenant) if action in kind[1] for spec in self.alike(kind))
        found = self._named.get(action, ())
        return (spec for spec in found if SHARED in (tenant, spec.tenant) or spec.tenant == tenant)

    def kinds(self, tenant: str) -> list[Kind]:
        """The kinds of tools that a tenant has."""
        return [kind for kind in self._alike if SHARED in (tenant, kind[0]) or kind[0] == tenant]

    def alike(self, kind: Kind) -> Iterable[Contract]:
        """The tools of a kind, those left out that cannot be read."""
        return self._alike.get(kind, _NONE).values()

    def has(self, action: str, tenant: str) -> bool:
        """Whether there is one."""
        return next(self.tools(action, tenant), None) is not None

    def actions(self, tenant: str) -> Iterator[str]:
        """The actions of all tools of a tenant, for people."""
        groups = {group for kind in self.kinds(tenant) for group in kind[1]}
        return (name for name in (*groups, *self._named) if self.has(name, tenant))

    def types(self, tenant: str) -> frozenset[str]:
        """The types of what the tools of a tenant touch."""
        return _seen(self._types, tenant)

    def resolved(self, tenant: str) -> frozenset[str]:
        """Those of them whose attributes a resolver gives."""
        return _seen(self._resolved, tenant)

    def _count(self, spec: Contract, by: int) -> None:
        type_ = resource_type(spec)
        self._types.setdefault(spec.tenant, Counter())[type_] += by
        if spec.resource is not None and spec.resource.resolved:
            self._resolved.setdefault(spec.tenant, Counter())[type_] += by


def _own(counted: Mapping[str, Counter[str]], tenants: Iterable[str]) -> dict[str, Counter[str]]:
    """The counts, of which those of some tenants may be changed without changing these."""
    return {**counted, **{tenant: counted.get(tenant, Counter[str]()).copy() for tenant in tenants}}


def _put(named: Changing[str, tuple[Contract, ...]], spec: Contract, becomes: Contract | None) -> None:
    """Have this stand in the place of a version; None: nothing."""
    name = action_name(spec.name)
    others = [each for each in named.get(name) or () if each.identity != spec.identity]
    named.put(name, tuple(others if becomes is None else [*others, becomes]) or None)


def is_read(spec: Contract) -> bool:
    """Whether it is known what the tool is, so that policies can be held against it."""
    return not isinstance(spec, Listed) or spec.is_read


def kind_of(spec: Contract) -> Kind:
    """What a tool has in common with those that stand with it."""
    return spec.tenant, action_groups(spec), resource_type(spec)


def _seen(types: Mapping[str, Counter[str]], tenant: str) -> frozenset[str]:
    owners = types if tenant == SHARED else (SHARED, tenant)
    return frozenset(type_ for owner in owners for type_, count in types.get(owner, Counter[str]()).items() if count)
