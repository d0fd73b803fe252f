"""The decision on one proposed call: resolve, freeze, judge - three pure functions in a fixed order, reasons attached.

    propose(call, caller, catalogue)  = resolve, freeze      -> Operation | Deny
    decide(operation, facts)          = judge                -> Allow | Deny | Ask | Replay

Facts are about the frozen operation, so they are looked up between the two. The order of the gates is the security
argument: what is first refuses first. Nothing here has effects; the claim guards the same conditions again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import assert_never

from interlock.core.approval import BOUND_TO, Approval, ApprovalState, Binding, Requirement
from interlock.core.budget import Exhausted, Taken, exhausted
from interlock.core.call import Caller, ToolCall
from interlock.core.canonical import Json
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.effect import CallState
from interlock.core.facts import Facts, Prior
from interlock.core.freeze import freeze
from interlock.core.frozen import frozen
from interlock.core.lifecycle import CLOSED, Lifecycle, Use, drains
from interlock.core.operation import Operation
from interlock.core.policy import Answer, PolicyRequest, Verdict, Visibility
from interlock.core.refusal_words import key_wanted, no_tool, not_here, over_said
from interlock.core.refusals import Code
from interlock.core.retirement import how_to
from interlock.core.routing import Missing, Why, located
from interlock.core.tool import ChosenBy

# What every call is compared with: looking a member up in its class costs as much as a call.
_BY_USER, _DENIED, _RETIRED = ChosenBy.USER, Answer.DENY, Lifecycle.RETIRED


@frozen
class Deny:
    """Refused. `code` is told to the caller; on record are `audited` where the two differ, and what is `meant`.

    `over` is the limit that stands in the way, where one does; `hint` says what to do instead of what its code says.
    """

    code: Code
    message: str
    details: Mapping[str, Json] = field(default_factory=dict)
    retry_after_s: float | None = None
    verdict: Verdict | None = None
    operation: Operation | None = None
    tool: Tool | None = None
    audited: Code | None = None
    over: Exhausted | None = None
    hint: str = ""
    meant: str = ""


@frozen
class Ask:
    """A person must approve it first."""

    requirement: Requirement
    verdict: Verdict


@frozen
class Replay:
    """It was done already. `visible` says whether today's policy lets the caller see the result."""

    prior: Prior
    visible: bool
    verdict: Verdict


@frozen
class Allow:
    """It may run. `grant` is used up by the claim; `continues` is the earlier call that this one goes on with.

    That is an unknown one that may be repeated, or one done in part, of which `rest` is the observation (JSON bytes).
    """

    verdict: Verdict
    grant: Approval | None = None
    continues: str | None = None
    rest: bytes | None = None


_GOES_ON = frozenset({CallState.UNKNOWN, CallState.PARTIAL})

Decision = Allow | Deny | Ask | Replay

KEPT_CHANGING = Deny(Code.CONTENDED, "What the call depends on kept changing.")


def propose(call: ToolCall, caller: Caller, catalogue: Catalogue) -> Operation | Deny:
    """The one operation that a proposal means, or why it means none."""
    tool = resolve(call, caller, catalogue)
    if isinstance(tool, Deny):
        return tool
    operation = freeze(call, caller, tool)
    if isinstance(operation, Operation):
        return operation
    if tool.state is _RETIRED:
        return closed_to(tool, name=call.name)
    return Deny(operation.code, operation.message, operation.details, tool=tool)


def resolve(call: ToolCall, caller: Caller, catalogue: Catalogue) -> Tool | Deny:
    """The tool of exactly this name that takes calls at present, or took them once: what was done is told again."""
    pin, tenant = caller.pin, caller.principal.tenant
    if catalogue.agents and caller.origin.agent:
        routed = located(call.name, caller, catalogue)
        if isinstance(routed, Missing) and routed.tool is not None:
            return unrouted(routed, caller, name=call.name)
        tool = None if isinstance(routed, Missing) else routed
    else:  # `located` spelled out: every call comes by
        tool = catalogue.find(tenant, call.name) if pin is None else catalogue.pinned(tenant, call.name, digest=pin)
    if tool is None and pin is None:
        tool = catalogue.late(tenant, call.name)
    if tool is None:
        return unrouted(located(call.name, caller, catalogue), caller, name=call.name)
    by_others = tool.spec.chosen_by is _BY_USER and not caller.user_requested
    if tool.state in CLOSED and (by_others or tool.state is not _RETIRED):
        return closed_to(tool, name=call.name)
    if by_others:
        return Deny(Code.TOOL_NOT_ALLOWED, f"{tool.spec.name} is called only at a user's explicit request.", tool=tool)
    return tool


def unrouted(missing: Tool | Missing | None, caller: Caller, *, name: str) -> Deny:
    """Why a name leads this caller to no tool. A model is told of no versions; the record is."""
    agent, meant = caller.origin.agent, missing.version if isinstance(missing, Missing) else ""
    if not isinstance(missing, Missing) or missing.tool is None:
        return Deny(Code.TOOL_NOT_FOUND, no_tool(name), audited=Code.TOOL_UNAVAILABLE if meant else None, meant=meant)
    if missing.why is Why.NOT_LISTED:
        return Deny(Code.TOOL_NOT_ALLOWED, f"{name} is not among the tools of the agent {agent}.", tool=missing.tool)
    return Deny(Code.TOOL_UNAVAILABLE, not_here(name, agent=agent), tool=missing.tool, meant=meant)


def closed_to(tool: Tool, *, name: str) -> Deny:
    """The refusal of a call to a tool that takes none, with what may do instead."""
    code = CLOSED[tool.state]
    if code is Code.TOOL_NOT_FOUND:
        return Deny(code, no_tool(name), tool=tool)
    says, going = f"{tool.spec.name} is {tool.state.value}.", tool.retirement
    if going is None or going.replacement is None or tool.state is not _RETIRED:
        return Deny(code, says, tool=tool)
    return Deny(code, says, going.replacement.told, tool=tool, hint=how_to(going.replacement))


def decide(operation: Operation, facts: Facts) -> Decision:
    """What becomes of a frozen operation. A total function: every path ends in a decision with its reasons.

    The order: the version is not retired; the run is open; an effect has a key; there is time left; what was done
    before is not done again; policy; what a person declined stays declined; budgets; approval. An unknown call that is
    safe to repeat, and one done in part whose tool resumes, pass them all, as a new one does, and are continued.
    """
    late = _late(operation, facts) if operation.tool.state is _RETIRED else None
    if late is not None:
        return late
    if facts.run.ended is not None:
        return Deny(Code.RUN_ENDED, f"The run has ended: {facts.run.ended}.")
    if operation.key is None and operation.tool.spec.effect.is_effect:
        return Deny(Code.IDEMPOTENCY_REQUIRED, key_wanted(operation.spec))
    if facts.deadline_us is not None and facts.as_of_us >= facts.deadline_us:
        return Deny(Code.DEADLINE_EXCEEDED, "The deadline passed before the call was started.")
    verdict = _judged(operation, facts)
    prior = facts.prior
    if prior is not None:
        repeated = _repeated(operation, prior, facts, verdict=verdict)
        if repeated is not None:
            return repeated
    if verdict.answer is _DENIED:
        return Deny(Code.PERMISSION_DENIED, verdict.reason, verdict=verdict)
    if operation.digest in facts.run.denied:
        return Deny(Code.APPROVAL_DENIED, "A person declined this operation in this run.", verdict=verdict)
    over = _over_budget(facts)
    if over is not None:
        return replace(over, verdict=verdict)
    decided = _approved(operation, facts, verdict)
    if prior is None or prior.state not in _GOES_ON or not isinstance(decided, Allow):
        return decided
    rest = prior.observation if prior.state is CallState.PARTIAL else None
    return replace(decided, continues=prior.operation_id, rest=rest)


def _late(operation: Operation, facts: Facts) -> Decision | None:
    """What becomes of a call of a retired version: what was done is told; a run that is bound goes on for a while."""
    tool, caller, prior = operation.tool, operation.caller, facts.prior
    use = Use.CALL if caller.run is None or caller.pin is None else Use.BOUND_RUN
    until_us = None if tool.retirement is None else tool.retirement.drains_until_us
    if drains(tool.state, use, until_us=until_us, now_us=facts.as_of_us):
        return None
    if prior is not None and facts.run.ended is None:
        repeated = _repeated(operation, prior, facts, verdict=_judged(operation, facts))
        if isinstance(repeated, Replay) or prior.state is CallState.CLAIMED:
            return repeated
    return closed_to(tool, name=operation.call.name)


def refusal_of(operation: Operation | Deny, deny: Deny) -> Deny:
    """The refusal of a call for a reason outside it, which says of what tool it is; the call's own reasons go first."""
    return operation if isinstance(operation, Deny) else replace(deny, operation=operation, tool=operation.tool)


def mask(deny: Deny, name: str, *, visibility: Visibility) -> Deny:
    """The refusal as the caller may hear it: of a tool that the caller may not see, it is as if there were none."""
    if deny.tool is not None and visibility is Visibility.NEVER:
        audited = deny.code if deny.code is Code.PERMISSION_DENIED else Code.TOOL_NOT_ALLOWED
        deny = replace(deny, code=Code.TOOL_NOT_FOUND, message=no_tool(name), details={}, audited=audited)
    if deny.code is not Code.TOOL_NOT_FOUND:
        return deny
    return replace(deny, details={}, retry_after_s=None, hint="")


def required(operation: Operation, verdict: Verdict) -> Requirement | None:
    """What approval the operation needs: what policy asks for, and never less than the tool's own floor."""
    floor = operation.tool.spec.approval_floor
    if floor is None:
        return verdict.requirement
    least = Requirement(floor.roles, floor.quorum, floor.lifetime_s, (floor.reason,) if floor.reason else ())
    return least if verdict.requirement is None else verdict.requirement.plus(least)


def binding(operation: Operation, facts: Facts, verdict: Verdict) -> Binding:
    """What an approval of this operation is bound to."""
    resource = facts.resource or operation.resource
    return Binding(
        operation_digest=operation.digest,
        tool=operation.spec.name,
        version=operation.spec.version,
        slice_digest=verdict.slice_digest,
        principal=operation.caller.principal.id,
        resource="" if resource is None else resource.name,
        resource_version=None if resource is None else resource.version,
    )


def _judged(operation: Operation, facts: Facts) -> Verdict:
    """What policy says; those who call often, where it reads nothing else, need not be described to it again."""
    policies, resource = facts.slice, facts.resource or operation.resource
    known = policies.known(operation.caller.principal, facts.run, spec=operation.tool.spec, resource=resource)
    return policies.decide(request_of(operation, facts)) if known is None else known


def request_of(operation: Operation, facts: Facts) -> PolicyRequest:
    """What policy is asked about the operation."""
    caller = operation.caller
    return PolicyRequest(
        caller.principal,
        operation.tool.spec,
        operation.values,
        facts.resource or operation.resource,
        facts.run,
        caller.origin,
        facts.as_of_us,
        facts.environment,
        facts.outside,
    )


def _repeated(operation: Operation, prior: Prior, facts: Facts, *, verdict: Verdict) -> Decision | None:
    """What becomes of a call whose key was used; None where it may run all the same."""
    if prior.state is CallState.RELEASED:
        return None
    if prior.tool != operation.spec.name or prior.model_digest != operation.model_digest:
        return Deny(Code.IDEMPOTENCY_CONFLICT, "The same key was used before with other arguments.", verdict=verdict)
    if prior.state is CallState.CLAIMED or prior.observation is None:
        return _in_progress(prior, verdict)
    if prior.state is CallState.UNKNOWN and operation.spec.effect.repeatable and not _is_used(facts.grant):
        return _in_progress(prior, verdict) if prior.goes_on else None
    if prior.state is CallState.PARTIAL and operation.spec.resumes and not _is_used(facts.grant):
        return None
    return Replay(prior, verdict.answer is not Answer.DENY, verdict)


def _in_progress(prior: Prior, verdict: Verdict) -> Deny:
    details: dict[str, Json] = {"operation_id": prior.operation_id}
    says = "The same operation is running now."
    return Deny(Code.IDEMPOTENCY_IN_PROGRESS, says, details, retry_after_s=1.0, verdict=verdict)


def _is_used(grant: Approval | None) -> bool:
    """Whether the approval was for the earlier call: a repeat takes one of its own."""
    return grant is not None and grant.state is ApprovalState.USED


def _approved(operation: Operation, facts: Facts, verdict: Verdict) -> Decision:
    grant = facts.grant
    if grant is None and verdict.requirement is None and operation.tool.spec.approval_floor is None:
        return Allow(verdict)
    need = required(operation, verdict)
    if grant is None:
        return Allow(verdict) if need is None else Ask(need, verdict)
    refused = _grant_refused(grant, facts, binding(operation, facts, verdict))
    if refused is not None:
        return replace(refused, verdict=verdict)
    if need is not None and not grant.requirement.covers(need):
        return Ask(need, verdict)
    return Allow(verdict, grant=grant)


def _grant_refused(grant: Approval, facts: Facts, bound: Binding) -> Deny | None:
    match grant.state:
        case ApprovalState.DENIED:
            return Deny(Code.APPROVAL_DENIED, "A person declined this operation.")
        case ApprovalState.PENDING if not grant.is_expired(facts.as_of_us):
            return Deny(Code.APPROVAL_REQUIRED, "The approval is not decided yet.", {"approval_id": grant.id})
        case ApprovalState.EXPIRED | ApprovalState.PENDING:
            return Deny(Code.APPROVAL_EXPIRED, "The approval expired before it was used.")
        case ApprovalState.GRANTED if grant.is_expired(facts.as_of_us):
            return Deny(Code.APPROVAL_EXPIRED, "The approval expired before it was used.")
        case ApprovalState.GRANTED if not grant.is_met:
            return Deny(Code.APPROVAL_MISMATCH, "The votes for the approval do not meet what it requires.")
        case ApprovalState.GRANTED if grant.binding == bound:
            return None
        case ApprovalState.GRANTED:
            return _changed(grant.binding, bound)
        case ApprovalState.USED | ApprovalState.WITHDRAWN | ApprovalState.VOID:
            return Deny(Code.APPROVAL_MISMATCH, f"The approval is {grant.state.value}.")
        case _:
            assert_never(grant.state)


def _changed(given: Binding, bound: Binding) -> Deny:
    """The refusal of a grant that was given for something else, with what differs in words and by field."""
    changed = [each.name for each in fields(bound) if getattr(bound, each.name) != getattr(given, each.name)]
    named = ", ".join(BOUND_TO[name] for name in changed)
    says = f"What the approval was given for has changed since: {named}."
    return Deny(Code.APPROVAL_MISMATCH, says, {"changed": [*changed]})


def _over_budget(facts: Facts) -> Deny | None:
    """The limit that stands in the way: what is used up for good before what frees up by itself, the longest wait."""
    taken = facts.reservations
    if (taken if type(taken) is Taken else Taken.of(taken)).fit(facts.usage):  # as it is for every call
        return None
    found: Deny | None = None
    for reservation, usage in zip(facts.reservations, facts.usage, strict=True):
        over = exhausted(reservation, usage)
        if over is None:
            continue
        deny = over_limit(over, now_us=facts.as_of_us)
        if deny.retry_after_s is None:
            return deny
        if found is None or deny.retry_after_s > (found.retry_after_s or 0.0):
            found = deny
    return found


def over_limit(over: Exhausted, *, now_us: int) -> Deny:
    """The refusal that names the limit."""
    said = over_said(over, now_us=now_us)
    return Deny(said.code, said.message, said.details, said.retry_after_s, over=over)
