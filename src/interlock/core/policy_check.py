"""Whether policies fit the catalogue: what they name must be there, and every read must be safe.

Each policy is checked against the tools that its scope can reach, every version of them. Of tools that look the same to
it - same groups, same resource type, same types of the arguments that it reads - one stands for all: so neither a
policy that names one tool nor one that names none costs more as the catalogue grows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

import cedarpy

from interlock.core.canonical import canonical
from interlock.core.catalogue import nearest
from interlock.core.errors import PolicyInvalid
from interlock.core.listed import Contract
from interlock.core.policy_arguments import arguments_type
from interlock.core.policy_compile import Policy, policy_set_json
from interlock.core.policy_index import Index, Kind, is_read, kind_of
from interlock.core.policy_schema import (
    GROUPS,
    PRINCIPAL,
    PRINCIPAL_TYPES,
    RUN,
    TOOL,
    OpenTypes,
    action_groups,
    action_name,
    cedar_schema,
    context_type,
    resource_type,
)
from interlock.core.policy_values import Record, prune
from interlock.core.tool import SHARED

_REACHES_NOTHING = "unable to find an applicable action"
_HEAD = re.compile(r"^for policy `[^`]*`, ")
_MISSING = re.compile(r"(?:attribute|entity type) `(?:[^`]*\.)?([^`.]+)`")


class Reach:
    """The tools of one tenant, found by the scopes of policies."""

    def __init__(self, index: Index, *, open_types: OpenTypes, tenant: str = SHARED) -> None:
        self.open_types = open_types
        self.types = index.types(tenant)
        self._index = index
        self._tenant = tenant

    @property
    def actions(self) -> frozenset[str]:
        """Every action that there is, for people."""
        return GROUPS.union(self._index.actions(self._tenant))

    def knows(self, action: str) -> bool:
        """Whether there is this action."""
        return action in GROUPS or self._index.has(action, self._tenant)

    def tools(self, policy: Policy) -> Iterator[Contract]:
        """The tools that the scope of a policy reaches."""
        return itertools.chain(self.listed(policy, policy.actions or frozenset()), *self.alike(policy))

    def listed(self, policy: Policy, names: frozenset[str]) -> Iterator[Contract]:
        """Those of them that these names mean, which are actions and no groups."""
        kinds, scope = frozenset(self._kinds(policy)), policy.actions or frozenset()
        for spec in self.named(names - GROUPS):
            by_name = action_name(spec.name) in scope and policy.resource in (None, resource_type(spec))
            if by_name or kind_of(spec) in kinds:
                yield spec

    def alike(self, policy: Policy) -> Iterator[Iterable[Contract]]:
        """Those that it reaches by a group of actions, kind by kind."""
        return (self._index.alike(kind) for kind in self._kinds(policy))

    def named(self, actions: Iterable[str]) -> list[Contract]:
        """The tools whose actions are named, those left out that cannot be read."""
        found = (spec for name in sorted(actions) for spec in self._index.tools(name, self._tenant))
        return [spec for spec in found if is_read(spec)]

    def is_blind(self, actions: frozenset[str]) -> bool:
        """Whether a tool that is named is there and cannot be read, so that nothing can be held against it."""
        return any(not is_read(spec) for name in actions - GROUPS for spec in self._index.tools(name, self._tenant))

    def _kinds(self, policy: Policy) -> Iterator[Kind]:
        groups = {"any"} if policy.actions is None else policy.actions & GROUPS
        for kind in self._index.kinds(self._tenant) if groups else ():
            if not groups.isdisjoint(kind[1]) and policy.resource in (None, kind[2]):
                yield kind

    def schema(self, specs: Iterable[Contract]) -> str:
        """The schema for these tools, of which each name occurs once, as JSON."""
        return canonical(cedar_schema(specs, open_types=self.open_types, types=self.types)).decode()


def check(policy: Policy, *, reach: Reach, facts: frozenset[str], only: Contract | None = None) -> None:
    """Raise `PolicyInvalid`, naming policy, file and what is missing, unless the policy fits what it reaches.

    `only` checks it against one more tool version instead of all.
    """
    tools = _distinct(policy, reach) if only is None else [only]
    problem = next(_problems(policy, reach=reach, facts=facts, tools=tools, whole=only is None), None)
    if problem is not None:
        raise PolicyInvalid(f"policy {policy.id} in {policy.source}: {problem}")


def warnings_of(policy: Policy, *, reach: Reach) -> Iterator[str]:
    """What is allowed and yet worth a second look."""
    if policy.permit and any(path[:2] == ("context", "args") for path in policy.reads.likes):
        yield (
            f"policy {policy.id}: a permit by `like` on an argument is no boundary: a pattern on shell text, a path "
            "or a URL also matches what is chained behind it; permit a tool with typed arguments, or ask"
        )
    if policy.by_group and next(reach.tools(policy), None) is None:
        yield f"policy {policy.id} reaches no tool at present"


def _problems(
    policy: Policy, *, reach: Reach, facts: frozenset[str], tools: list[Contract], whole: bool
) -> Iterator[str]:
    yield from _unknown_actions(policy, reach)
    yield from _unknown(policy, "context", "facts", known=facts, what="fact")
    if reach.is_blind(policy.reads.actions | (policy.actions or frozenset())):
        return  # what errs when it is asked denies
    if tools and (whole or not policy.by_group):
        arguments = {field.name for spec in tools for field in arguments_type(spec.input_schema).fields}
        yield from _unknown(policy, "context", "args", known=arguments, what="argument")
    if policy.resource is not None and policy.resource in reach.types - reach.open_types.attributes.keys():
        yield from _unknown(policy, "resource", known={"id"}, what="attribute of an unresolved resource")
    for layer in _layers([*tools, *reach.named(policy.reads.actions)]):
        yield from _cedar_problems(policy, reach, layer)


def _distinct(policy: Policy, reach: Reach) -> list[Contract]:
    """One of each sort of tools that a policy can tell apart: all are looked at only where it reads arguments."""
    named = policy.reads.actions | (policy.actions or frozenset())
    reads = bool(policy.reads.below("context", "args"))
    kinds = reach.alike(policy) if reads else (_unnamed(each, named) for each in reach.alike(policy))
    found: dict[tuple[object, ...], Contract] = {}
    sort_of = sorting(policy)
    for spec in itertools.chain(reach.listed(policy, named), *kinds):
        found.setdefault(sort_of(spec), spec)
    return list(found.values())


def sorting(policy: Policy) -> Callable[[Contract], tuple[object, ...]]:
    """What a policy can tell of a tool: those of which this is equal fit it alike."""
    named = policy.reads.actions | (policy.actions or frozenset())
    paths = policy.reads.below("context", "args")

    def sort_of(spec: Contract) -> tuple[object, ...]:
        name = action_name(spec.name)
        arguments = prune(arguments_type(spec.input_schema), paths=paths) if paths else None
        return name if name in named else None, action_groups(spec), resource_type(spec), arguments

    return sort_of


def _unnamed(specs: Iterable[Contract], named: frozenset[str]) -> Iterator[Contract]:
    """One of those that are not named: each of them stands for all."""
    return itertools.islice((spec for spec in specs if action_name(spec.name) not in named), 1)


def _unknown_actions(policy: Policy, reach: Reach) -> Iterator[str]:
    named = policy.reads.actions | (policy.actions or frozenset())
    for name in sorted(each for each in named if not reach.knows(each)):
        yield f"the catalogue has no tool {name!r}{_hint(name, reach.actions)}"


def _unknown(policy: Policy, *root: str, known: Iterable[str], what: str) -> Iterator[str]:
    known = frozenset(known)
    for name in sorted({path[0] for path in policy.reads.below(*root) if path} - known):
        yield f"there is no {what} {name!r} that a policy can read{_hint(name, known)}"


def _layers(specs: list[Contract]) -> Iterator[list[Contract]]:
    """Choices of one version of each name that together hold every version."""
    versions: dict[str, list[Contract]] = {}
    for spec in specs:
        known = versions.setdefault(spec.name, [])
        if not any(spec is each for each in known):
            known.append(spec)
    for depth in range(max(map(len, versions.values()), default=1)):
        yield [each[min(depth, len(each) - 1)] for each in versions.values()]


def _cedar_problems(policy: Policy, reach: Reach, specs: list[Contract]) -> Iterator[str]:
    errors = _validate(policy_set_json((policy,)), reach.schema(specs))
    for each in errors:
        if not (policy.by_group and _REACHES_NOTHING in each):
            yield each + _hint_in(each, specs, reach)


@lru_cache(maxsize=4_096)
def _validate(policy: str, schema: str) -> tuple[str, ...]:
    """Cedar's errors. Kept, because every change of the catalogue checks all policies again, most of them unchanged."""
    result = cedarpy.validate_policies(cedarpy.policies_from_json_str(policy), schema)
    errors = tuple(_HEAD.sub("", each.error) for each in result.errors)
    return errors if errors or result.validation_passed else ("it does not validate",)


def _hint_in(problem: str, specs: list[Contract], reach: Reach) -> str:
    missing = _MISSING.search(problem)
    if missing is None or "optional" in problem:
        return ""
    records = [PRINCIPAL, RUN, TOOL, *reach.open_types.attributes.values()]
    records += [context_type(spec, facts=reach.open_types.facts) for spec in specs[:50]]
    names = {field.name for each in records for field in each.fields} | {"Group", "Tenant", *PRINCIPAL_TYPES}
    return _hint(missing[1], names | reach.types | _argument_names(specs[:50]))


def _argument_names(specs: list[Contract]) -> set[str]:
    return {name for spec in specs for name in _names(arguments_type(spec.input_schema))}


def _names(record: Record) -> Iterator[str]:
    for field in record.fields:
        yield field.name
        if isinstance(field.type, Record):
            yield from _names(field.type)


def _hint(name: str, known: Iterable[str] | Mapping[str, object]) -> str:
    close = nearest(name, sorted(known))
    return f"; did you mean {close[0]!r}?" if close else ""
