"""Approvals: the question put to people, their votes, and the single-use grant that follows, as one table of states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from interlock.core.call import Principal, PrincipalKind
from interlock.core.frozen import frozen


@frozen
class Requirement:
    """What must be met before an operation may run.

    `roles` are all needed, each by at least one approver; `quorum` is how many different people must approve;
    `lifetime_s` bounds both the wait and the grant. `distinct`: the requester may not approve.
    """

    roles: frozenset[str] = frozenset()
    quorum: int = 1
    lifetime_s: int = 86_400
    reasons: tuple[str, ...] = ()
    distinct: bool = True

    def plus(self, other: Requirement) -> Requirement:
        """Both together: all roles, the larger quorum, the shorter lifetime."""
        return Requirement(
            self.roles | other.roles,
            max(self.quorum, other.quorum),
            min(self.lifetime_s, other.lifetime_s),
            self.reasons + tuple(reason for reason in other.reasons if reason not in self.reasons),
            self.distinct or other.distinct,
        )

    def covers(self, other: Requirement) -> bool:
        """Whether meeting this one meets the other as well."""
        return self.roles >= other.roles and self.quorum >= other.quorum and (self.distinct or not other.distinct)


ASKED = "Who asked may not approve."
EDITED = "Who edited it may not approve it."


class ApprovalState(StrEnum):
    """Where an approval stands. GRANTED: decided, the grant not yet used. VOID: what it was bound to has changed."""

    PENDING = "pending"
    GRANTED = "granted"
    USED = "used"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    VOID = "void"


class ApprovalEvent(StrEnum):
    """What can happen to an approval."""

    APPROVE = "approve"
    DENY = "deny"
    USE = "use"
    EXPIRE = "expire"
    WITHDRAW = "withdraw"
    VOID = "void"


APPROVAL_TRANSITIONS: Mapping[tuple[ApprovalState, ApprovalEvent], ApprovalState] = {
    (ApprovalState.PENDING, ApprovalEvent.APPROVE): ApprovalState.GRANTED,
    (ApprovalState.PENDING, ApprovalEvent.DENY): ApprovalState.DENIED,
    (ApprovalState.PENDING, ApprovalEvent.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.PENDING, ApprovalEvent.WITHDRAW): ApprovalState.WITHDRAWN,
    (ApprovalState.PENDING, ApprovalEvent.VOID): ApprovalState.VOID,
    (ApprovalState.GRANTED, ApprovalEvent.USE): ApprovalState.USED,
    (ApprovalState.GRANTED, ApprovalEvent.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.GRANTED, ApprovalEvent.WITHDRAW): ApprovalState.WITHDRAWN,
    (ApprovalState.GRANTED, ApprovalEvent.VOID): ApprovalState.VOID,
}


@frozen
class Vote:
    """One person's decision. `roles` are those that the person held when voting, from the authenticated channel."""

    approver: str
    roles: frozenset[str]
    approve: bool
    at_us: int
    note: str = ""


@frozen
class Binding:
    """What an approval is for, to the byte; when any of it changes the approval is void."""

    operation_digest: str
    tool: str
    version: str
    slice_digest: str
    principal: str
    resource: str
    resource_version: str | None


BOUND_TO: Mapping[str, str] = {
    "operation_digest": "the operation itself",
    "tool": "the tool",
    "version": "the version of the tool",
    "slice_digest": "the policies that decide it",
    "principal": "who asks for it",
    "resource": "the resource",
    "resource_version": "the version of the resource",
}
"""The parts of a binding, in words."""


@frozen
class Approval:
    """The question: one frozen operation, what it needs, and where it stands. Times in microseconds since 1970 UTC.

    `requesters` are who asked, on whose behalf, and who edited it: none of them may decide it where the requirement is
    `distinct`. `editors` are those of them who edited it.
    """

    id: str
    tenant: str
    operation_id: str
    binding: Binding
    requirement: Requirement
    summary: str
    asked_at_us: int
    expires_at_us: int
    state: ApprovalState = ApprovalState.PENDING
    votes: tuple[Vote, ...] = ()
    run: str | None = None
    task: str | None = None
    key: str | None = None
    call_id: str = ""
    replaces: str | None = None
    expectation: str | None = None
    requesters: frozenset[str] = frozenset()
    editors: frozenset[str] = frozenset()

    def is_expired(self, now_us: int) -> bool:
        """At the very instant of `expires_at_us` it is expired."""
        return now_us >= self.expires_at_us

    def in_place_of(self, earlier: Approval | None) -> Approval:
        """The same, instead of an earlier one: whoever had a hand in that may not decide this."""
        if earlier is None:
            return self
        requesters, editors = self.requesters | earlier.requesters, self.editors | earlier.editors
        return replace(self, replaces=earlier.id, requesters=requesters, editors=editors)

    def edited_by(self, person: str) -> Approval:
        """The same, with this person among those who had a hand in it."""
        return replace(self, requesters=self.requesters | {person}, editors=self.editors | {person})

    def has_vote_of(self, person: str) -> bool:
        """Whether this person has decided it."""
        return any(vote.approver == person for vote in self.votes)

    @property
    def is_met(self) -> bool:
        """Whether its votes meet what it requires. A grant is used by these, never by what its state says alone."""
        allowed = not self.requirement.distinct or not any(vote.approver in self.requesters for vote in self.votes)
        return allowed and tally(self.requirement, self.votes) is ApprovalEvent.APPROVE


def next_state(state: ApprovalState, event: ApprovalEvent) -> ApprovalState | None:
    """The state that follows, or None where the step is not allowed."""
    return APPROVAL_TRANSITIONS.get((state, event))


def tally(requirement: Requirement, votes: tuple[Vote, ...]) -> ApprovalEvent | None:
    """What the votes so far amount to: one denial denies; all roles and the quorum approve; else nothing yet."""
    if any(not vote.approve for vote in votes):
        return ApprovalEvent.DENY
    people = {vote.approver for vote in votes}
    held = frozenset[str]().union(*[vote.roles for vote in votes])
    if people and len(people) >= requirement.quorum and requirement.roles <= held:
        return ApprovalEvent.APPROVE
    return None


def may_vote(approval: Approval, *, by: Principal, now_us: int) -> str | None:
    """Why this one may not decide this approval, as a sentence; None where they may."""
    if by.kind is PrincipalKind.AGENT:
        return "An agent may not decide an approval."
    if by.acts_for_another:
        return "Who acts for somebody else may not decide an approval."
    if approval.state is not ApprovalState.PENDING:
        return f"The approval is {approval.state.value}."
    if approval.is_expired(now_us):
        return "The approval has expired."
    if approval.requirement.distinct and by.id in approval.requesters:
        return EDITED if by.id in approval.editors else ASKED
    if approval.has_vote_of(by.id):
        return "You have decided already."
    if not _has_role(approval.requirement, by):
        return f"It takes one of these roles: {', '.join(sorted(approval.requirement.roles))}."
    return None


def concerns(approval: Approval, by: Principal) -> bool:
    """Whether somebody has to do with an approval: asked, decided, or is one whose decision it takes."""
    if by.id in approval.requesters or approval.has_vote_of(by.id):
        return True
    return by.kind is not PrincipalKind.AGENT and not by.acts_for_another and _has_role(approval.requirement, by)


def _has_role(requirement: Requirement, by: Principal) -> bool:
    return not requirement.roles or not requirement.roles.isdisjoint(by.groups)
