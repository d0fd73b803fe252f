"""Who may see an approval, and what came of it, beside those who asked and those who decided."""

from __future__ import annotations

from interlock.core.approval import Approval, concerns
from interlock.core.call import Principal
from interlock.core.decision import Deny, request_of
from interlock.core.observation import Observation
from interlock.core.observe import for_another
from interlock.core.operation import Operation
from interlock.core.policy import Answer, Verdict
from interlock.core.stored import as_called_by
from interlock.ports import StoredOperation
from interlock.runtime.acts import AUDITORS
from interlock.runtime.look import Asked, Looker
from interlock.runtime.records import Records
from interlock.runtime.views import Views


def may_see(approval: Approval, by: Principal) -> bool:
    """Whether somebody may see the question: whom it concerns, and who may read the tenant's log anyway."""
    return concerns(approval, by) or not by.groups.isdisjoint(AUDITORS)


def took_part(approval: Approval, by: Principal) -> bool:
    """Whether somebody asked or decided, and so may hear what came of it."""
    return by.id in approval.requesters or approval.has_vote_of(by.id)


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
