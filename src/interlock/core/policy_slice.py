"""The policies that can decide about one tool version for one tenant: a total function of request and facts.

Log-only policies are judged beside, together with the enforced ones; their reads, errors and answers never touch the
verdict, only its `log_only` note.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from interlock.core.call import LIBRARY, Origin, Principal
from interlock.core.policy_compile import Policy
from interlock.core.policy_judge import Bench, Judge, Judges, enforced, redacted_by
from interlock.core.policy_terms import Answer, Explanation, PolicyRequest, PolicyTrace, Verdict, Visibility
from interlock.core.resource import Resource
from interlock.core.run import RunFacts
from interlock.core.tool import SHARED, ToolSpec


class PolicySlice:
    """`digest` changes with the enforced policies. `redact` names all fields that one of them may have redacted.

    `facts` names the outside facts that are read; `reads_arguments`, `reads_run`, `reads_time` and `reads_resource` say
    what else a decision depends on: a claim guards the run's version where `reads_run`.
    """

    def __init__(self, policies: Iterable[Policy], *, bench: Bench, judges: Judges, fits: bool = True) -> None:
        """Of policies that do not fit the version none is asked: it is never allowed."""
        policies = tuple(policies)
        self.spec = spec = bench.spec
        self.tenant = tenant = bench.tenant
        self.digest = bench.digest
        self.redact = redacted_by(enforced(policies))
        self._fits = fits
        policies = policies if fits else ()
        decisive = enforced(policies)
        self._judge = judges.judge(decisive, bench=bench)
        self._trial = judges.judge(policies, bench=bench) if len(decisive) < len(policies) else None
        self._is_simple = fits and self._trial is None and spec.tenant in (SHARED, tenant)
        facts = (self._trial or self._judge).projection.facts
        self.facts = frozenset(field.name for field in facts.fields) if facts is not None else frozenset[str]()
        reads = self._judge.projection
        self.reads_arguments = reads.args is not None
        self.reads_run = bool(reads.run)
        self.reads_time = reads.reads_time
        self.reads_resource = reads.reads_resource

    def decide(self, request: PolicyRequest) -> Verdict:
        """The verdict on a request. It never raises: whatever goes wrong is a denial."""
        foreign = self._foreign(request)
        if foreign:
            return self._deny(foreign)
        if not self._fits:
            return self._deny("the policies in force do not fit this version of the tool")
        verdict = self._asked(self._judge, request)
        if self._trial is None:
            return verdict
        trial = self._asked(self._trial, request)
        if _same(trial, verdict):
            return verdict
        return replace(verdict, log_only=f"{trial.answer.value}: {trial.reason}")

    def known(
        self, principal: Principal, run: RunFacts, *, spec: ToolSpec, resource: Resource | None
    ) -> Verdict | None:
        """What `decide` says of these, where it is remembered and nothing else matters; None: ask it."""
        if spec is not self.spec or principal.tenant != self.tenant or not self._is_simple:
            return None
        if resource is not None and (spec.resource is None or spec.resource.type != resource.type):
            return None
        return self._judge.known(principal, run)

    def visibility(
        self,
        principal: Principal,
        *,
        environment: str,
        origin: Origin = LIBRARY,
        known: dict[Judge, Visibility] | None = None,
    ) -> Visibility:
        """Whether the principal could be allowed or asked at all, by the same policies that decide the call.

        What the run has done, like arguments, resource and facts, is not known: a run goes on, and there are others.
        `known` is what was said of other tools at the same moment to the same principal: a judge of several says it of
        all of them.
        """
        if self._foreign_tenant(principal):
            return Visibility.NEVER
        found = None if known is None else known.get(self._judge)
        if found is None:
            found = self._foreseen(principal, environment, origin)
            if known is not None:
                known[self._judge] = found
        return found

    def _foreseen(self, principal: Principal, environment: str, origin: Origin) -> Visibility:
        request = PolicyRequest(
            principal=principal, spec=self.spec, arguments={}, origin=origin, environment=environment
        )
        try:
            return self._judge.visibility(request)
        except BaseException as fault:  # noqa: BLE001 - a listing hides only what is surely never allowed
            _let_go(fault)
            return Visibility.MAYBE

    def explain(self, request: PolicyRequest) -> Explanation:
        """The verdict, and what became of each policy on its own. Slower than `decide`: for people."""
        verdict = self.decide(request)
        judge = self._trial or self._judge
        return Explanation(verdict, judge.unasked() if self._foreign(request) else _traced(judge, request))

    def _asked(self, judge: Judge, request: PolicyRequest) -> Verdict:
        try:
            return judge.decide(request)
        except BaseException as fault:  # noqa: BLE001 - an engine that breaks, panics included, must not allow
            _let_go(fault)
            return self._deny(f"policy_unavailable: the policy engine gave no usable answer ({type(fault).__name__})")

    def _deny(self, reason: str) -> Verdict:
        return Verdict(Answer.DENY, (), self.digest, redact=self.redact, reason=reason)

    def _foreign(self, request: PolicyRequest) -> str:
        if self._foreign_tenant(request.principal):
            return "the tool or its policies are another tenant's"
        if request.spec is not self.spec and request.spec != self.spec:
            return "the policies are those of another tool version"
        resource, rule = request.resource, self.spec.resource
        if resource is not None and (rule is None or rule.type != resource.type):
            return "the resource is not of the type that the tool declares"
        return ""

    def _foreign_tenant(self, principal: Principal) -> bool:
        return principal.tenant != self.tenant or self.spec.tenant not in (SHARED, principal.tenant)


def _traced(judge: Judge, request: PolicyRequest) -> tuple[PolicyTrace, ...]:
    try:
        return judge.trace(request)
    except BaseException as fault:  # noqa: BLE001 - the verdict says already what is wrong with the engine
        _let_go(fault)
        return judge.unasked()


def _let_go(fault: BaseException) -> None:
    if isinstance(fault, KeyboardInterrupt | SystemExit):
        raise fault


def _same(one: Verdict, other: Verdict) -> bool:
    if (one.answer, one.requirement) != (other.answer, other.requirement):
        return False
    return one.answer is Answer.DENY or one.redact == other.redact
