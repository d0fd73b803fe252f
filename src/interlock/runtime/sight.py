"""Who may see an approval, a call that did not end and what was spent, and what came of it, beside those who asked."""

from __future__ import annotations

from interlock.core.approval import Approval, concerns
from interlock.core.budget import ScopeKey, ScopeKind
from interlock.core.call import Principal
from interlock.core.decision import Deny, request_of
from interlock.core.errors import StoreError
from interlock.core.observation import Observation
from interlock.core.observe import for_another
from interlock.core.operation import Operation
from interlock.core.policy import Answer, Verdict
from interlock.core.stored import as_called_by, caller_of
from interlock.ports import StoredOperation
from interlock.runtime.acts import AUDITORS, OPERATORS
from interlock.runtime.look import Asked, Looker
from interlock.runtime.records import Records
from interlock.runtime.views import Views


def may_see(approval: Approval, by: Principal) -> bool:
    """Whether somebody may see the question: whom it concerns, and who may read the tenant's log anyway."""
    return concerns(approval, by) or not by.groups.isdisjoint(AUDITORS)


def took_part(approval: Approval, by: Principal) -> bool:
    """Whether somebody asked or decided, and so may hear what came of it."""
    return by.id in approval.requesters or approval.has_vote_of(by.id)


def asked_for(stored: StoredOperation, by: Principal) -> bool:
    """Whether a call was made by somebody, or on their behalf; of what cannot be read only by whom is known."""
    if by.id == stored.principal:
        return True
    try:
        return by.id == caller_of(stored.sealed).principal.on_behalf_of
    except StoreError:
        return False


def may_see_call(stored: StoredOperation, by: Principal) -> bool:
    """Whether somebody may know of a call that did not end: who asked for it, and who may read the tenant's log."""
    return stored.tenant == by.tenant and (not by.groups.isdisjoint(AUDITORS) or asked_for(stored, by))


def may_see_usage(scope: ScopeKey, by: Principal, *, home: str) -> bool:
    """Whether somebody may know what was spent in a scope: their own, and all of it for who may read the tenant's log.

    What belongs to all tenants, or to another one, is for operators of `home`, the installation's own tenant.
    """
    if scope.tenant != by.tenant:
        return by.tenant == home and not by.groups.isdisjoint(OPERATORS)
    return not by.groups.isdisjoint(AUDITORS) or (scope.kind is ScopeKind.PRINCIPAL and scope.id == by.id)


class Sight:
    """What policy lets others see of a result: as much as it would, had they made the same call today."""

    def __init__(self, looker: Looker, *, views: Views, records: Records) -> None:
        self._looker = looker
        self._views = views
        self._redactor = records.redactor

    async def verdict(self, stored: StoredOperation, by: Principal) -> tuple[Operation, Verdict] | None:
        """What policy says of the same call by this principal; None where it would not be let through."""
        return await self.verdict_on(stored.sealed, by)

    async def verdict_on(self, sealed: bytes, by: Principal) -> tuple[Operation, Verdict] | None:
        """The same of a sealed operation."""
        view = await self._views.latest()
        operation = as_called_by(sealed, view.catalogue, principal=by)
        if isinstance(operation, Deny):
            return None
        facts = await self._looker.facts(operation, view, Asked(counted=True))
        verdict = facts.slice.decide(request_of(operation, facts))
        return None if verdict.answer is Answer.DENY else (operation, verdict)

    def shown(self, seen: Observation, to: tuple[Operation, Verdict] | None) -> Observation:
        """The observation as that verdict lets it be seen."""
        return for_another(seen, to, redactor=self._redactor)

    async def of_call(self, seen: Observation, stored: StoredOperation, *, by: Principal) -> Observation:
        """What came of a call as somebody may see it: whole for who asked for it, to others as policy lets them."""
        if asked_for(stored, by):
            return seen
        try:
            verdict = await self.verdict(stored, by)
        except StoreError:  # what was called can no longer be read, so nobody else can be let see what came of it
            verdict = None
        return self.shown(seen, verdict)
