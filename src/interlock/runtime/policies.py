"""Policies as their authors use them: check, explain, see what a change would touch, save."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.core.approval import Approval
from interlock.core.call import Caller, Principal, ToolCall
from interlock.core.canonical import sha256_hex
from interlock.core.decision import Deny, propose, request_of
from interlock.core.frozen import frozen
from interlock.core.journal import EventKind
from interlock.core.policy import Explanation, Impact, PolicySource
from interlock.core.tool import SHARED
from interlock.ports import Registered
from interlock.runtime.acts import only_operators, signed_by
from interlock.runtime.look import Asked, Looker
from interlock.runtime.records import Records
from interlock.runtime.views import Views
from interlock.runtime.voids import LIVE, void
from interlock.runtime.world import World


@frozen
class Change:
    """What saving policies would touch: tools whose slice changes, and approvals that it voids, unused grants too."""

    tools: tuple[Impact, ...]
    approvals: tuple[str, ...]
    warnings: tuple[str, ...]


class PolicyDesk:
    """What people do with policies."""

    def __init__(self, world: World, looker: Looker, *, views: Views, records: Records, home: str) -> None:
        self._world = world
        self._home = home
        self._looker = looker
        self._views = views
        self._records = records

    async def sources(self) -> tuple[PolicySource, ...]:
        """The policies in force."""
        return await self._views.sources()

    async def are_in_force(self, sources: Iterable[PolicySource]) -> bool:
        """Whether saving these would leave everything as it is."""
        return frozenset(await self._views.sources(tuple(sources))) == frozenset(await self._views.sources())

    async def check(
        self, sources: Iterable[PolicySource], *, tenant: str, coming: tuple[Registered, ...] = ()
    ) -> Change:
        """What these would change for a tenant, before they are saved. Raises `PolicyInvalid`.

        `coming` are versions that are about to be published.
        """
        view = self._views.current
        catalogue, proposed = await self._views.proposed(await self._views.sources(tuple(sources)), new=coming)
        for spec in catalogue.routed:
            proposed.check(spec)
        tools = () if proposed is view.policies else view.policies.impact(proposed, specs=catalogue.specs)
        void = tuple(each.id for each in await self._waiting(tenant, tools))
        return Change(tools, void, proposed.warnings)

    async def save(self, sources: Iterable[PolicySource], *, by: Principal) -> Change:
        """Put policies in force, at once for every process; those that are in force already stay as they are.

        Approvals that wait, or were given and not used, are void where a policy that decided them has changed.
        Shared policies, and those of other tenants, take an operator of the installation's own tenant. Raises
        `PolicyInvalid` or `ActRefused`, and then nothing changes.
        """
        wanted = tuple(sources)
        only_operators(by, "Saving policies", tenants={each.tenant for each in wanted}, home=self._home)
        change = await self.check(wanted, tenant=by.tenant)
        if await self.are_in_force(wanted):
            await self._views.refresh()
            return change
        record = {
            "subject": "policies",
            **signed_by(by),
            "tools": sorted({each.tool for each in change.tools}),
            "policies": [
                {"tenant": each.tenant, "name": each.name, "digest": sha256_hex(each.text.encode())} for each in wanted
            ],
        }
        event = self._records.act(EventKind.POLICY_SAVED, by.tenant, record)
        await self._world.catalogue.save_policies(wanted, event)
        await self._views.refresh()
        for approval in await self._waiting(None, change.tools):
            await void(self._world, self._records, approval, by=by, note="policies changed")
        return change

    async def _waiting(self, tenant: str | None, tools: Iterable[Impact]) -> tuple[Approval, ...]:
        """The approvals, of a tenant or of all, that could still let something run by policies that change."""
        touched = {(each.tenant, each.tool) for each in tools}
        found = [each for state in LIVE for each in await self._world.approvals.approvals(tenant, state)]
        return tuple(
            each for each in found if touched & {(each.tenant, each.binding.tool), (SHARED, each.binding.tool)}
        )

    async def explain(self, call: ToolCall, caller: Caller) -> Explanation | Deny:
        """How policy would decide this call now, and what each policy had to say; nothing runs, nothing is counted."""
        view = self._views.current
        operation = propose(call, caller, view.catalogue)
        if isinstance(operation, Deny):
            return operation
        facts = await self._looker.facts(operation, view, Asked())
        return view.policies.explain(request_of(operation, facts))
