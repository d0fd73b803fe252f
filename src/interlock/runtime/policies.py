"""Policies as their authors use them: check, explain, see what a change would touch, save."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.core.approval import ApprovalState
from interlock.core.call import Caller, Principal, ToolCall
from interlock.core.canonical import sha256_hex
from interlock.core.decision import Deny, propose, request_of
from interlock.core.frozen import frozen
from interlock.core.journal import EventKind
from interlock.core.policy import Explanation, Impact, PolicySource
from interlock.runtime.acts import only_operators, signed_by
from interlock.runtime.look import Asked, Looker
from interlock.runtime.records import Records
from interlock.runtime.views import Views
from interlock.runtime.world import World


@frozen
class Change:
    """What saving policies would touch: tools whose slice changes, and waiting approvals that would be void."""

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

    async def check(self, sources: Iterable[PolicySource], *, tenant: str) -> Change:
        """What these would change for a tenant, before they are saved. Raises `PolicyInvalid`."""
        view = self._views.current
        catalogue = await self._views.catalogue()
        proposed = self._views.compile(await self._views.sources(tuple(sources)), catalogue=catalogue)
        tools = view.policies.impact(proposed, specs=catalogue.specs)
        touched = {each.tool for each in tools}
        waiting = await self._world.approvals.approvals(tenant, ApprovalState.PENDING)
        void = tuple(each.id for each in waiting if each.binding.tool in touched)
        return Change(tools, void, proposed.warnings)

    async def save(self, sources: Iterable[PolicySource], *, by: Principal) -> Change:
        """Put policies in force, at once for every process; those that are in force already stay as they are.

        Shared policies, and those of other tenants, take an operator of the installation's own tenant. Raises
        `PolicyInvalid` or `ActRefused`, and then nothing changes.
        """
        wanted = tuple(sources)
        only_operators(by, "Saving policies", tenants={each.tenant for each in wanted}, home=self._home)
        change = await self.check(wanted, tenant=by.tenant)
        if frozenset(await self._views.sources(wanted)) == frozenset(await self._views.sources()):
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
        return change

    async def explain(self, call: ToolCall, caller: Caller) -> Explanation | Deny:
        """How policy would decide this call now, and what each policy had to say; nothing runs, nothing is counted."""
        view = self._views.current
        operation = propose(call, caller, view.catalogue)
        if isinstance(operation, Deny):
            return operation
        facts = await self._looker.facts(operation, view, Asked())
        return view.policies.explain(request_of(operation, facts))
