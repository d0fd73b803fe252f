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

from collections import Counter
from collections.abc import Iterable
from copy import copy

from interlock.core.errors import PolicyInvalid
from interlock.core.layers import Layers
from interlock.core.listed import Contract, Identity
from interlock.core.policy_arguments import arguments_type
from interlock.core.policy_check import Reach, check, sorting, warnings_of
from interlock.core.policy_compile import Policy, compile_source, refuse_duplicates
from interlock.core.policy_engine import Evaluate, Question, Reply, cedar
from interlock.core.policy_index import Change, Index
from interlock.core.policy_judge import Bench, Judges
from interlock.core.policy_rules import Rules
from interlock.core.policy_schema import action_name, cedar_schema
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

_SLICES_MAX = 262_144
_SliceKey = tuple[tuple[str, str, str, str], str]


class PolicySet:
    """All policies of an installation, compiled against its catalogue.

    `facts` names those that fact sources give beside those that tools declare. Raises `PolicyInvalid` where a policy
    does not parse, says what is not understood, or names what is not there.
    """

    def __init__(
        self,
        sources: Iterable[PolicySource],
        specs: Iterable[Contract],
        *,
        facts: Iterable[str] = (),
        evaluate: Evaluate = cedar,
    ) -> None:
        self.sources = tuple(sources)
        self._compiled: Layers[Identity, Contract] = Layers({spec.identity: spec for spec in specs})
        self._index = Index(self._compiled.values())
        self._given = frozenset(facts)
        self._declared = Counter(fact for spec in self._compiled.values() for fact in spec.facts)
        self._evaluate = evaluate
        self._judges = Judges(evaluate)
        policies = tuple(policy for source in self.sources for policy in compile_source(source))
        refuse_duplicates(policies)
        self.tenants = frozenset(policy.tenant for policy in policies) | {SHARED}
        self._rules = {tenant: self._rules_of(tenant, policies) for tenant in sorted(self.tenants)}
        self._slices: dict[_SliceKey, PolicySlice] = {}
        self._check_all()

    def with_tools(self, changes: Iterable[Change]) -> PolicySet:
        """The same policies where these versions are new, or took the place of others. Raises `PolicyInvalid`.

        It looks at the policies that can decide about these tools and at no other tool, unless a change reaches
        further: to a fact, an argument or a type of resource that is there no more, or whose attributes are new.
        """
        changes = tuple(changes)
        replaced = frozenset(old.identity for old, _ in changes if old is not None)
        new = copy(self)
        new._compiled = self._compiled.changed(
            {**dict.fromkeys(replaced), **{spec.identity: spec for _, spec in changes}}
        )
        if any(map(self._reaches_further, changes)):
            return PolicySet(self.sources, new._compiled.values(), facts=self._given, evaluate=self._evaluate)
        new._index = self._index.changed(changes)
        new._declared = self._declared.copy()
        for old, spec in changes:
            new._declared.subtract(() if old is None else old.facts)
            new._declared.update(spec.facts)
        checked = set[tuple[object, ...]]()
        for _, spec in changes:
            new._check_changed(spec, checked)
        return new

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is allowed and yet worth a second look, for people."""
        return tuple(
            each
            for tenant, rules in self._rules.items()
            for policy in rules.policies
            if policy.tenant == tenant
            for each in warnings_of(policy, reach=self._reach(tenant))
        )

    def slice(self, spec: ToolSpec, tenant: str) -> PolicySlice:
        """The policies about one tool version for principals of one tenant, kept for the next call.

        A version that was not in the catalogue when the policies were compiled, such as an old one that an agent or a
        run is bound to, is checked first: where they do not fit it, the slice denies.
        """
        key = ((spec.tenant, spec.source, spec.name, spec.version), tenant)  # `identity`, spelled out
        found = self._slices.get(key)
        if found is None or (found.spec is not spec and found.spec != spec):
            found = self._slice(spec, tenant)
            if len(self._slices) >= _SLICES_MAX:
                self._slices.clear()
            self._slices[key] = found
        return found

    def check(self, spec: Contract) -> None:
        """Raise `PolicyInvalid` unless the policies of every tenant fit this version: to be asked before publishing."""
        for tenant in self._seeing(spec):
            self._check_more(spec, tenant, self._of(tenant).matching(spec).policies)

    def explain(self, request: PolicyRequest) -> Explanation:
        """The verdict, and what became of each policy that could have had a say."""
        return self.slice(request.spec, request.principal.tenant).explain(request)

    def impact(self, other: PolicySet, specs: Iterable[Contract]) -> tuple[Impact, ...]:
        """The tools whose enforced policies change from this set to the other, by tenant with policies of its own."""
        tenants = sorted(self.tenants | other.tenants)
        return tuple(
            Impact(spec.name, spec.version, tenant, before, after)
            for spec in specs
            for tenant in tenants
            if spec.tenant in (SHARED, tenant)
            if (before := self.digest(spec, tenant)) != (after := other.digest(spec, tenant))
        )

    def naming(self, tool: str, *, tenant: str | None = None) -> tuple[str, ...]:
        """The policies of a tenant and the shared ones, or those of all tenants, that name a tool, by their ids; what
        reaches it by a group does not."""
        asked = self._rules.values() if tenant is None else (self._of(tenant),)
        all_ = (policy for rules in asked for policy in rules.policies)
        return tuple(sorted({each.id for each in all_ if tool in (each.actions or ())}))

    def digest(self, spec: Contract, tenant: str) -> str:
        """The digest that the slice has, at less than the cost of a slice."""
        return self._of(tenant).matching(spec).digest

    def _slice(self, spec: ToolSpec, tenant: str) -> PolicySlice:
        rules = self._of(tenant)
        matching = rules.matching(spec)
        bench = Bench(spec, tenant, rules.open_types, matching.digest)
        fits = self._fits(spec, tenant, matching.policies)
        return PolicySlice(matching.policies, bench=bench, judges=self._judges, fits=fits)

    def _fits(self, spec: ToolSpec, tenant: str, matching: Iterable[Policy]) -> bool:
        compiled = self._compiled.get(spec.identity)
        if compiled is spec or compiled == spec:
            return True
        try:
            self._check_more(spec, tenant, matching)
        except PolicyInvalid:
            return False
        return True

    def _of(self, tenant: str) -> Rules:
        return self._rules.get(tenant) or self._rules[SHARED]

    def _rules_of(self, tenant: str, policies: Iterable[Policy]) -> Rules:
        own = [policy for policy in policies if policy.tenant in (SHARED, tenant)]
        # Shared policies first: the types that they imply are not changed by what a tenant writes.
        own.sort(key=lambda policy: policy.tenant != SHARED)
        return Rules(own, resolved=self._index.resolved(tenant))

    def _reach(self, tenant: str) -> Reach:
        return Reach(self._index, open_types=self._of(tenant).open_types, tenant=tenant)

    @property
    def _facts(self) -> frozenset[str]:
        return self._given.union(fact for fact, count in self._declared.items() if count > 0)

    def _check_all(self) -> None:
        for tenant, rules in self._rules.items():
            reach = self._reach(tenant)
            for policy in rules.policies:
                if policy.tenant == tenant:
                    check(policy, reach=reach, facts=self._facts)

    def _check_more(self, spec: Contract, tenant: str, matching: Iterable[Policy]) -> None:
        index = self._index if spec.identity in self._compiled else self._index.changed([(None, spec)])
        reach = Reach(index, open_types=self._of(tenant).open_types, tenant=tenant)
        facts = self._facts | frozenset(spec.facts)
        for policy in matching:
            check(policy, reach=reach, facts=facts, only=spec)

    def _check_changed(self, spec: Contract, checked: set[tuple[object, ...]]) -> None:
        """Check what can decide about a version or asks after its action; one that names tools with all of them.

        `checked` is what was checked of other versions that came with it: those that a policy takes for one are one.
        """
        name = action_name(spec.name)
        for tenant in self._seeing(spec):
            rules, reach = self._of(tenant), self._reach(tenant)
            asking = rules.asking(name)
            for policy in {each.id: each for each in (*rules.matching(spec).policies, *asking)}.values():
                only = spec if policy.by_group and policy not in asking else None
                place = (tenant, policy.id, *(() if only is None else sorting(policy)(only)))
                if place in checked:
                    continue
                checked.add(place)
                check(policy, reach=reach, facts=self._facts, only=only)

    def _seeing(self, spec: Contract) -> list[str]:
        """The tenants with policies that the tool is for."""
        return [each for each in sorted(self.tenants) if spec.tenant in (SHARED, each) or each == SHARED]

    def _reaches_further(self, change: Change) -> bool:
        """Whether a change concerns more than the tool that it is about: what it took away, or types of resources."""
        old, spec = change
        rule, is_new = spec.resource, False
        if rule is not None and rule.resolved:
            known = [self._index.resolved(tenant) for tenant in self._seeing(spec)]
            is_new = any(rule.type not in types for types in known)
        return is_new or (
            old is not None
            and (
                old.resource != rule
                or old.effect is not spec.effect
                or not set(old.facts) <= set(spec.facts)
                or self._is_missed(old, spec)
            )
        )

    def _is_missed(self, old: Contract, spec: Contract) -> bool:
        """Whether a policy reads an argument that the new version has no more."""
        lost = {each.name for each in arguments_type(old.input_schema).fields}
        lost -= {each.name for each in arguments_type(spec.input_schema).fields}
        policies = (policy for rules in self._rules.values() for policy in rules.matching(old).policies)
        return bool(lost) and any(_reads_one_of(policy, lost) for policy in policies)


def _reads_one_of(policy: Policy, arguments: Iterable[str]) -> bool:
    """Whether a policy reads one of these arguments, or all of them."""
    read = policy.reads.below("context", "args")
    return any(not path or path[0] in arguments for path in read)
