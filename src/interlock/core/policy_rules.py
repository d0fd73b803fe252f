"""The policies that decide for one tenant: those of all tenants and its own, found by tool, fitted to its tools."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.core.frozen import frozen
from interlock.core.listed import Contract
from interlock.core.policy_compile import Policy, digest_of
from interlock.core.policy_reads import below, open_record
from interlock.core.policy_schema import TOOL_TYPE, OpenTypes, action_groups, action_name, resource_type


@frozen
class Matching:
    """Policies by their ids in order, and the digest of those that are enforced."""

    policies: tuple[Policy, ...]
    digest: str


class Rules:
    """An index of policies by the actions that their scopes name, so that a tool's slice costs only what is in it."""

    def __init__(self, policies: Iterable[Policy], *, resolved: frozenset[str]) -> None:
        self.policies = tuple(policies)
        self._by_action: dict[str | None, list[Policy]] = {}
        for policy in self.policies:
            for action in policy.actions if policy.actions is not None else (None,):
                self._by_action.setdefault(action, []).append(policy)
        self._by_question: dict[str, list[Policy]] = {}
        for policy in self.policies:
            for action in policy.reads.actions:
                self._by_question.setdefault(action, []).append(policy)
        self._matching: dict[tuple[str | None, tuple[str, ...], str], Matching] = {}
        self.open_types = open_types(self.policies, resolved=resolved)

    def asking(self, action: str) -> tuple[Policy, ...]:
        """The policies that name this action in a condition."""
        return tuple(self._by_question.get(action, ()))

    def matching(self, spec: Contract) -> Matching:
        """The policies whose scope can match a call of this tool; most tools of a kind have the same."""
        name, groups, type_ = action_name(spec.name), action_groups(spec), resource_type(spec)
        key = (name if name in self._by_action else None, groups, type_)
        found = self._matching.get(key)
        if found is None:
            found = self._matching[key] = self._matched((None, name, *groups), type_)
        return found

    def _matched(self, names: tuple[str | None, ...], type_: str) -> Matching:
        found = {
            policy.id: policy
            for name in names
            for policy in self._by_action.get(name, ())
            if policy.resource in (None, type_)
        }
        policies = tuple(found[each] for each in sorted(found))
        return Matching(policies, digest_of(policies))


def open_types(policies: Iterable[Policy], *, resolved: frozenset[str]) -> OpenTypes:
    """The types of facts and of `resolved` resources' attributes, as the policies' own use of them implies."""
    policies = tuple(policies)
    paths = frozenset(path for policy in policies for path in policy.reads.below("context", "facts"))
    usages = [(path[2:], type_) for each in policies for path, type_ in each.reads.usages if _is_fact(path)]
    attributes = {
        type_: open_record(
            (
                (path[1:], implied)
                for each in policies
                if each.resource in (None, type_)
                for path, implied in each.reads.usages
                if path[0] == "resource"
            ),
            paths=frozenset(
                path
                for each in policies
                if each.resource in (None, type_)
                for path in below(each.reads.paths, root=("resource",))
            ),
        )
        for type_ in resolved - {TOOL_TYPE}
    }
    return OpenTypes(open_record(usages, paths=paths), attributes)


def _is_fact(path: tuple[str, ...]) -> bool:
    return path[:2] == ("context", "facts")
