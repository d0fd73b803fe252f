"""One set of policies over tools that it cannot tell apart: it answers a request, and remembers the answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256

import cedarpy

from interlock.core.approval import Requirement
from interlock.core.call import Principal
from interlock.core.canonical import canonical
from interlock.core.frozen import frozen
from interlock.core.policy_compile import Policy, policy_set_json
from interlock.core.policy_engine import Evaluate, Frame, Reply, checked
from interlock.core.policy_reads import Path
from interlock.core.policy_request import Projection, View, projection, tool_values
from interlock.core.policy_schema import OpenTypes, action_groups, resource_type
from interlock.core.policy_terms import Answer, Mode, Outcome, PolicyRequest, PolicyTrace, Verdict, Visibility
from interlock.core.policy_values import Unfit
from interlock.core.run import RunFacts
from interlock.core.tool import ToolSpec

MEMO_MAX = 4_096

CALLERS_MAX = 1_024
"""Of how many callers, with what their runs have read, a verdict is remembered without looking at them again."""

_JUDGES_MAX = 16_384
_KEY_BYTES_MAX = 256


@frozen
class Bench:
    """Where a judge sits: tool version, tenant, types, and the digest that its verdicts carry."""

    spec: ToolSpec
    tenant: str
    open_types: OpenTypes
    digest: str


class Judges:
    """The judges of a policy set. Tools that their policies cannot tell apart share one, and with it the memory.

    What policies read is worked out once for all tools that they reach, and what of a request lies on that once for
    each type of resource and, where arguments are read, for each input schema: a listing asks of every tool.
    """

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._kept: dict[tuple[object, ...], Judge] = {}
        self._reading: dict[tuple[str, ...], Reading] = {}
        self._projections: dict[tuple[object, ...], Projection] = {}

    def judge(self, policies: Iterable[Policy], *, bench: Bench) -> Judge:
        """The judge of these policies for the tool of `bench`."""
        policies = tuple(policies)
        ids = tuple(policy.id for policy in policies)
        reading = self._reading.get(ids)
        if reading is None:
            reading = self._reading[ids] = reading_of(policies)
        spec, type_ = bench.spec, resource_type(bench.spec)
        read = self._projected(ids, reading, bench, type_=type_)
        key = (
            ids,
            bench.tenant,
            action_groups(spec),
            type_,
            canonical(tool_values(spec, read=read.tool)) if read.tool.fields else b"",
            spec.name if reading.by_name or (spec.resource is None and reading.resource) else None,
            read,
        )
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _JUDGES_MAX:
                self._kept.clear()
            found = self._kept[key] = Judge(policies, bench=bench, read=read, evaluate=self._evaluate)
        return found

    def _projected(self, ids: tuple[str, ...], reading: Reading, bench: Bench, *, type_: str) -> Projection:
        schema = bench.spec.input_schema if reading.arguments else None
        key = ids, bench.tenant, type_, schema
        found = self._projections.get(key)
        if found is None:
            if len(self._projections) >= _JUDGES_MAX:
                self._projections.clear()
            found = projection(bench.spec, paths=reading.paths, open_types=bench.open_types)
            self._projections[key] = found
        return found


@frozen
class Reading:
    """What policies read, of whatever tool. `by_name` and `resource` say how they see a tool's name beside
    `context.tool`: as the action, or as the resource of one that has none of its own."""

    paths: frozenset[Path]
    arguments: bool
    by_name: bool
    resource: bool


def reading_of(policies: Iterable[Policy]) -> Reading:
    """What these read, together."""
    policies = tuple(policies)
    paths = frozenset(path for policy in policies for path in policy.reads.paths)
    roots = {path[0] for path in paths}
    return Reading(
        paths,
        arguments=any(path[:2] in (("context",), ("context", "args")) for path in paths),
        by_name="action" in roots or any(not policy.by_group for policy in policies),
        resource="resource" in roots,
    )


class Judge:
    """The memory is bounded: it is dropped when full, and long views are kept by their SHA-256."""

    def __init__(self, policies: Iterable[Policy], *, bench: Bench, read: Projection, evaluate: Evaluate) -> None:
        self._policies = {policy.id: policy for policy in policies}
        self.projection = read
        self._known = replace(
            self.projection,
            resource_id=False,
            attributes=None,
            args=None,
            facts=None,
            run=frozenset(),
            plain=_timeless(self.projection),
        )
        self._unknown = _unknown_context(self.projection)
        self._frame = Frame(bench.spec, tenant=bench.tenant, read=self.projection)
        self._handle = cedarpy.PolicySet.from_json_str(policy_set_json(self._policies.values()))
        self._effects = {each.id: each.permit for each in self._policies.values()}
        self._evaluate = evaluate
        self._digest = bench.digest
        # A denial names all that a permit could: its record shows no more than that of a call that is let through.
        self._named = redacted_by(self._policies.values())
        self._verdicts: dict[View, Verdict] = {}
        self._visible: dict[View, Visibility] = {}
        self._keeps = not self.projection.reads_time
        self._of_caller = self.projection.reads_caller_alone
        self._by_caller: dict[tuple[int, int], tuple[Verdict, Principal, RunFacts]] = {}

    def decide(self, request: PolicyRequest) -> Verdict:
        """The verdict. Raises whatever a broken engine raises; such a fault is not remembered."""
        if not self._of_caller:
            return self._decide(request)
        principal, run = request.principal, request.run
        known = self.known(principal, run)
        if known is not None:
            return known
        found = self._decide(request)
        if len(self._by_caller) >= CALLERS_MAX:
            self._by_caller.clear()
        self._by_caller[id(principal), id(run)] = found, principal, run
        return found

    def known(self, principal: Principal, run: RunFacts) -> Verdict | None:
        """The verdict on a caller of whom it was asked before, where nothing else matters.

        Those who call often come with the same values. What is kept alive here cannot lend its identity to another.
        """
        found = self._by_caller.get((id(principal), id(run)))
        return None if found is None else found[0]

    def _decide(self, request: PolicyRequest) -> Verdict:
        view = self.projection.view(request)
        if isinstance(view, Unfit):
            return self._deny(f"{view.reason}, and policy reads it")
        if not self._keeps:
            return self._judge(view)
        key = _bounded(view)
        found = self._verdicts.get(key)
        if found is None:
            found = self._judge(view)
            if len(self._verdicts) >= MEMO_MAX:
                self._verdicts.clear()
            self._verdicts[key] = found
        return found

    def visibility(self, request: PolicyRequest) -> Visibility:
        """Whether any arguments, resource, facts, run and time would be let through. NEVER and ALWAYS are sure."""
        if not self.projection.reads_unknowns:
            denied = self.decide(request).answer is Answer.DENY
            return Visibility.NEVER if denied else Visibility.ALWAYS
        view = self._known.view(request)
        if isinstance(view, Unfit):
            return Visibility.MAYBE
        key = _bounded(view)
        found = self._visible.get(key)
        if found is None:
            found = self._foresee(view)
            if len(self._visible) >= MEMO_MAX:
                self._visible.clear()
            self._visible[key] = found
        return found

    def trace(self, request: PolicyRequest) -> tuple[PolicyTrace, ...]:
        """Each policy on its own. Raises as `decide` does."""
        view = self.projection.view(request)
        if isinstance(view, Unfit):
            return self.unasked()
        return tuple(_trace(policy, self._outcome(policy, view)) for policy in self._policies.values())

    def unasked(self) -> tuple[PolicyTrace, ...]:
        """The policies, none of which was asked."""
        return tuple(_trace(policy, Outcome.NOT_ASKED) for policy in self._policies.values())

    def _judge(self, view: View) -> Verdict:
        question = self._frame.question(view, policies=self._handle)
        return self._verdict(checked(self._evaluate(question), effects=self._effects))

    def _verdict(self, reply: Reply) -> Verdict:
        satisfied = tuple(sorted(reply.satisfied))
        if reply.errors:
            errored = tuple(each for each in self._policies if any(f"`{each}`" in error for error in reply.errors))
            return self._deny(f"policy error: {reply.errors[0]}", policies=errored)
        if not reply.allowed:
            return self._deny(self._refusal(satisfied), policies=satisfied)
        policies = [self._policies[each] for each in satisfied]
        asks = [each.terms.requirement for each in policies if each.terms.requirement is not None]
        redact = redacted_by(policies)
        names = ", ".join(satisfied)
        digest = self._digest
        if not asks:
            return Verdict(Answer.ALLOW, satisfied, digest, None, redact, f"permitted by {names}")
        return Verdict(Answer.ASK, satisfied, digest, _sum(asks), redact, f"{names}: a person must approve")

    def _deny(self, reason: str, *, policies: tuple[str, ...] = ()) -> Verdict:
        return Verdict(Answer.DENY, policies, self._digest, redact=self._named, reason=reason)

    def _refusal(self, forbids: Sequence[str]) -> str:
        if not forbids:
            return "no policy permits it"
        told = [f"{each}: {why}" if (why := self._policies[each].terms.reason) else each for each in forbids]
        return f"forbidden by {'; '.join(told)}"

    def _foresee(self, view: View) -> Visibility:
        unsure = self._frame.partial(view, unknown=self._unknown, resource=self.projection.reads_resource)
        try:
            result = cedarpy.is_authorized_partial(unsure, self._handle, self._frame.entities(view))
        except ValueError:
            # An id that Cedar's text form cannot hold. A listing hides only what is surely never allowed.
            return Visibility.MAYBE
        return Visibility.NEVER if result.decision is cedarpy.Decision.Deny else Visibility.MAYBE

    def _outcome(self, policy: Policy, view: View) -> Outcome:
        alone = cedarpy.PolicySet.from_json_str(policy_set_json((policy,)))
        reply = checked(self._evaluate(self._frame.question(view, policies=alone)), effects=self._effects)
        if reply.errors:
            return Outcome.ERROR
        return Outcome.SATISFIED if reply.satisfied else Outcome.NOT_SATISFIED


def enforced(policies: Iterable[Policy]) -> tuple[Policy, ...]:
    """Those that decide."""
    return tuple(policy for policy in policies if policy.mode is Mode.ENFORCE)


def redacted_by(policies: Iterable[Policy]) -> frozenset[str]:
    """The fields that these policies have redacted, together."""
    return frozenset[str]().union(*[each.terms.redact for each in policies])


def _trace(policy: Policy, outcome: Outcome) -> PolicyTrace:
    paths = tuple(sorted(".".join(path) for path in policy.reads.paths))
    return PolicyTrace(policy.id, policy.effect, policy.mode, outcome, paths)


def _sum(asks: Sequence[Requirement]) -> Requirement:
    total = asks[0]
    for each in asks[1:]:
        total = total.plus(each)
    return total


def _bounded(view: View) -> View:
    # Arguments may be long, and a memory of thousands of them longer. A digest has 32 bytes and never starts as JSON.
    if len(view.context) <= _KEY_BYTES_MAX and len(view.resource) <= _KEY_BYTES_MAX:
        return view
    return view._replace(context=_digest(view.context), resource=_digest(view.resource))


def _digest(text: bytes) -> bytes:
    return b"#" + sha256(text).digest()


def _timeless(read: Projection) -> tuple[str, ...]:
    return tuple(name for name in read.plain if name != "now")


def _unknown_context(read: Projection) -> bytes:
    names = [name for name, part in (("args", read.args), ("facts", read.facts)) if part is not None]
    names += ["run"] if read.run else []
    names += ["now"] if read.reads_time else []
    return b",".join(b'"%b":{"__extn":{"fn":"unknown","arg":"%b"}}' % (name.encode(), name.encode()) for name in names)
