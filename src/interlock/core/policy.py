"""Authorization by Cedar policies: the set that is saved, and the slice of it that decides about one tool.

What a policy sees (a policy that names anything else fails when it is saved):

    principal  User | Agent | Service, in Group::"g" and Tenant::"t"
               id, tenant, kind, groups: Set<String>, on_behalf_of
    action     Action::"tool_name", in Action::"read" | "idempotent_write" | "write" | "destructive",
               in Action::"effect" (all but reads) and in Action::"any";
               a tool that is called like one of these groups is Action::"tool:read"
    resource   Type::"id" as the tool declares it, with `id` and what its resolver gives; else Tool::"tool_name"
    context    args (by the input schema), agent, door, environment, now: datetime, facts (by name),
               tool: name version effect risk external confidentiality owner vendor source tags,
               run: confidentiality trust origins tools

Integers are Long, numbers decimal, arrays Set, objects records; what may be absent or null is optional. Facts and
resolved attributes have the type that the policies' own use implies. A value that is read and missing, or of another
type, denies before Cedar is asked, and a policy that errors denies: nothing that goes wrong allows.

A permit with `@approval("role,role")` asks; `@quorum("2")`, `@lifetime("8h")`, `@reason("...")` and
`@self_approval("allowed")` say how. `@redact("field,field")` names what must be redacted. Forbid beats ask beats
permit. Policies of a tenant decide for its principals only, those of `*` for all. Ids are `file/id`, or
`tenant:file/id`; a policy without `@id` has a digest of itself instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from interlock.core.policy_check import Reach, check, warnings_of
from interlock.core.policy_compile import Policy, compile_source, digest_of, refuse_duplicates
from interlock.core.policy_engine import Evaluate, Question, Reply, cedar
from interlock.core.policy_judge import Judges
from interlock.core.policy_rules import Rules
from interlock.core.policy_schema import cedar_schema
from interlock.core.policy_slice import PolicySlice
from interlock.core.policy_terms import (
    Answer,
    Explanation,
    Impact,
    Mode,
    Outcome,
    PolicyRequest,
    PolicySource,
    PolicyTrace,
    Verdict,
    Visibility,
)
from interlock.core.starter_policy import STARTER_POLICY
from interlock.core.tool import SHARED, ToolSpec

__all__ = [
    "STARTER_POLICY",
    "Answer",
    "Evaluate",
    "Explanation",
    "Impact",
    "Mode",
    "Outcome",
    "PolicyRequest",
    "PolicySet",
    "PolicySlice",
    "PolicySource",
    "PolicyTrace",
    "Question",
    "Reply",
    "Verdict",
    "Visibility",
    "cedar",
    "cedar_schema",
]

_SLICES_MAX = 65_536
_SliceKey = tuple[tuple[str, str, str, str], str]


class PolicySet:
    """All policies of an installation, compiled against its catalogue.

    `facts` names those that fact sources give beside those that tools declare. `warnings` are for people. Raises
    `PolicyInvalid` where a policy does not parse, says what is not understood, or names what is not there.
    """

    def __init__(
        self,
        sources: Iterable[PolicySource],
        specs: Iterable[ToolSpec],
        *,
        facts: Iterable[str] = (),
        evaluate: Evaluate = cedar,
    ) -> None:
        self._specs = tuple(specs)
        self._facts = frozenset(facts) | {fact for spec in self._specs for fact in spec.facts}
        self._judges = Judges(evaluate)
        policies = tuple(policy for source in sources for policy in compile_source(source))
        refuse_duplicates(policies)
        self.tenants = frozenset(policy.tenant for policy in policies) | {SHARED}
        self._rules = {tenant: self._rules_of(tenant, policies) for tenant in sorted(self.tenants)}
        self._compiled = {spec.identity: spec for spec in self._specs}
        self._slices: dict[_SliceKey, PolicySlice] = {}
        self.warnings = tuple(self._check_all())

    def slice(self, spec: ToolSpec, tenant: str) -> PolicySlice:
        """The policies about one tool version for principals of one tenant, kept for the next call.

        A version that was not in the catalogue when the policies were compiled is checked first: `PolicyInvalid` where
        they do not fit it. So publishing asks for the slice.
        """
        key = (spec.identity, tenant)
        found = self._slices.get(key)
        if found is None or (found.spec is not spec and found.spec != spec):
            found = self._slice(spec, tenant)
            if len(self._slices) >= _SLICES_MAX:
                self._slices.clear()
            self._slices[key] = found
        return found

    def check(self, spec: ToolSpec) -> None:
        """Raise `PolicyInvalid` unless the policies of every tenant fit this version: to be asked before publishing."""
        for tenant in sorted(self.tenants):
            if spec.tenant in (SHARED, tenant) or tenant == SHARED:
                rules = self._of(tenant)
                self._check_more(spec, rules, rules.matching(spec))

    def explain(self, request: PolicyRequest) -> Explanation:
        """The verdict, and what became of each policy that could have had a say."""
        return self.slice(request.spec, request.principal.tenant).explain(request)

    def impact(self, other: PolicySet, specs: Iterable[ToolSpec]) -> tuple[Impact, ...]:
        """The tools whose enforced policies change from this set to the other, by tenant with policies of its own."""
        tenants = sorted(self.tenants | other.tenants)
        return tuple(
            Impact(spec.name, spec.version, tenant, before, after)
            for spec in specs
            for tenant in tenants
            if spec.tenant in (SHARED, tenant)
            if (before := self.digest(spec, tenant)) != (after := other.digest(spec, tenant))
        )

    def naming(self, tool: str) -> tuple[str, ...]:
        """The policies of all tenants that name a tool, by their ids; what reaches it by a group does not."""
        all_ = (policy for rules in self._rules.values() for policy in rules.policies)
        return tuple(sorted({each.id for each in all_ if tool in (each.actions or ())}))

    def digest(self, spec: ToolSpec, tenant: str) -> str:
        """The digest that the slice has, at less than the cost of a slice."""
        return digest_of(self._of(tenant).matching(spec))

    def _slice(self, spec: ToolSpec, tenant: str) -> PolicySlice:
        rules = self._of(tenant)
        matching = rules.matching(spec)
        compiled = self._compiled.get(spec.identity)
        if compiled is not spec and compiled != spec:
            self._check_more(spec, rules, matching)
        return PolicySlice(matching, spec=spec, tenant=tenant, open_types=rules.open_types, judges=self._judges)

    def _of(self, tenant: str) -> Rules:
        return self._rules.get(tenant) or self._rules[SHARED]

    def _rules_of(self, tenant: str, policies: Iterable[Policy]) -> Rules:
        own = [policy for policy in policies if policy.tenant in (SHARED, tenant)]
        # Shared policies first: the types that they imply are not changed by what a tenant writes.
        own.sort(key=lambda policy: policy.tenant != SHARED)
        return Rules(own, specs=self._seen_by(tenant))

    def _seen_by(self, tenant: str) -> list[ToolSpec]:
        return [spec for spec in self._specs if SHARED in (tenant, spec.tenant) or spec.tenant == tenant]

    def _check_all(self) -> Iterable[str]:
        for tenant, rules in self._rules.items():
            reach = Reach(self._seen_by(tenant), open_types=rules.open_types)
            for policy in rules.policies:
                if policy.tenant == tenant:
                    check(policy, reach=reach, facts=self._facts)
                    yield from warnings_of(policy, reach=reach)

    def _check_more(self, spec: ToolSpec, rules: Rules, matching: Iterable[Policy]) -> None:
        reach = Reach([*self._specs, spec], open_types=rules.open_types)
        for policy in matching:
            check(policy, reach=reach, facts=self._facts | frozenset(spec.facts), only=spec)
