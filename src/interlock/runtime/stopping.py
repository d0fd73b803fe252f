"""Stops everything of a tenant, a source, a vendor or a tool at once, in every process, and takes that back exactly."""

from __future__ import annotations

from interlock.core.call import Principal
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import DocumentChanged, ToolUnknown
from interlock.core.journal import EventKind
from interlock.core.move_gates import Grounds, refuse_wordless
from interlock.core.stops import Stop, StopScope, refuse_unkept, stop_to_bytes
from interlock.core.tool import SHARED, spec_to_json
from interlock.runtime.acts import AUDITORS, only_operators, signed_by
from interlock.runtime.common import Common


class Stopping:
    """What people do in an emergency."""

    def __init__(self, common: Common) -> None:
        self._common = common

    async def stop(self, scope: StopScope, *, by: Principal, reason: str) -> Stop:
        """Close all that the scope covers, from the next claim of every process on, whatever runs are bound to.

        What is published while it stands is closed too. What executes is finished and settled. Raises `ActRefused`
        unless `by` is an operator (of the installation's own tenant where the scope is of all tenants or of another's),
        `MoveRefused` without a reason.
        """
        refuse_wordless(Grounds(reason=reason))
        refuse_unkept(scope)
        only_operators(by, "Stopping tools", tenants={scope.tenant}, home=self._common.home)
        words, at_us = self._common.records.redactor.text(reason), self._common.world.clock.now_us()
        stop = Stop(id=self._common.world.new_id(), scope=scope, reason=words, by=by.id, at_us=at_us)
        document = Document(scope.tenant, DocumentKind.STOP, stop.id, 1, stop_to_bytes(stop))
        await self._save(document, stop, EventKind.TOOL_STOPPED, by=by, why=words)
        return stop

    async def lift(self, stop_id: str, *, by: Principal, reason: str) -> Stop:
        """Take a stop down: what it closed, and nothing else, stands again where it stands by itself.

        Raises as `stop` does, and `ToolUnknown` where there is no such stop.
        """
        refuse_wordless(Grounds(reason=reason))
        stop = next((each for each in await self._standing(by) if each.id == stop_id), None)
        if stop is None:
            raise ToolUnknown(f"there is no stop {stop_id!r}")
        only_operators(by, "Lifting a stop", tenants={stop.scope.tenant}, home=self._common.home)
        tenant = stop.scope.tenant
        found = await self._common.world.documents.document(DocumentKind.STOP, tenant=tenant, name=stop_id)
        if found is None or found.is_removed:
            raise DocumentChanged(f"the stop {stop_id} was lifted at the same time")
        await self._save(found.changed(b""), stop, EventKind.TOOL_STOP_LIFTED, by=by, why=reason)
        return stop

    async def stops(self, *, by: Principal) -> tuple[Stop, ...]:
        """The stops that stand and concern the tenant of `by`, or all to who reads the log of the installation's own.

        By age. They name tools and say why, so to those who may not read their tenant's log there are none.
        """
        return await self._standing(by) if by.groups & AUDITORS else ()

    async def _standing(self, by: Principal) -> tuple[Stop, ...]:
        view = await self._common.views.refresh()
        mine = [each for each in view.catalogue.stops if each.scope.tenant in (SHARED, by.tenant)]
        return tuple(
            sorted(view.catalogue.stops if by.tenant == self._common.home else mine, key=lambda each: each.at_us)
        )

    async def _save(self, document: Document, stop: Stop, kind: EventKind, *, by: Principal, why: str) -> None:
        scope = spec_to_json(stop.scope)
        record = {"subject": stop.id, **signed_by(by), "scope": scope, "stops": stop.scope.words, "reason": why}
        await self._common.world.documents.save_documents(
            (document,), self._common.records.act(kind, by.tenant, record)
        )
        await self._common.views.refresh()
