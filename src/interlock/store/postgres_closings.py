"""Proposals to close unknown calls, in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.core.canonical import decode, stored_json
from interlock.core.chain import Receipt
from interlock.core.effect import CallState
from interlock.core.journal import Event
from interlock.core.recovery import Closing
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json
from interlock.ports import OpenCall
from interlock.store.postgres_line import Line, Row
from interlock.store.postgres_rows import place_of
from interlock.store.postgres_sheet import Sheet
from interlock.store.rules import is_unknown_still
from interlock.store.seal import Seal, of_closing


@dataclass(frozen=True, slots=True)
class ProposingClosing:
    """Propose a closing in place of any before it. None: the call is not unknown, or under another fence."""

    call: OpenCall
    closing: Closing
    event: Event

    async def carry_out(self, line: Line, sheet: Sheet) -> Receipt | None:
        operation = self.call.operation
        place = place_of(operation.tenant, operation.id)
        (rows,) = await line.trip(("lock_for_closing", (place,)))
        if not rows or not is_unknown_still(self.call, state=CallState(rows[0][0]), fence=rows[0][1]):
            return None
        context = of_closing(operation.tenant, operation.id)
        sealed = sheet.seal.seal(stored_json(spec_to_json(self.closing)), context=context)
        await line.trip(("put_closing", (place, self.call.fence, sealed)))
        return sheet.append(self.event)


def read_closing(row: Row, *, tenant: str, seal: Seal) -> tuple[str, Closing]:
    """A row of `select_closings`: the operation, and what is proposed of it."""
    operation_id, sealed = row
    return operation_id, from_json(Closing, decode(seal.open(sealed, context=of_closing(tenant, operation_id))))
