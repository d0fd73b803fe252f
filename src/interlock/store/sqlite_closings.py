"""Proposals to close unknown calls, in SQLite."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.canonical import decode, stored_json
from interlock.core.chain import Receipt
from interlock.core.effect import CallState
from interlock.core.journal import Event
from interlock.core.recovery import Closing
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json
from interlock.ports import OpenCall
from interlock.store.rules import is_unknown_still
from interlock.store.seal import of_closing
from interlock.store.sqlite_db import Db
from interlock.store.sqlite_desk import Desk


def closings(db: Db, *, tenant: str) -> Mapping[str, Closing]:
    """What is proposed of a tenant's unknown calls, by operation id."""
    return {
        operation_id: from_json(Closing, decode(db.seal.open(sealed, context=of_closing(tenant, operation_id))))
        for operation_id, sealed in db.all("select_closings", tenant)
    }


def propose(desk: Desk, *, call: OpenCall, closing: Closing, event: Event) -> Receipt | None:
    """Propose one, in place of any before it. None: it is not unknown any more, or under another fence."""
    place = (call.operation.tenant, call.operation.id)
    row = desk.db.one("select_standing", *place)
    if row is None or not is_unknown_still(call, state=CallState(row[0]), fence=row[1]):
        return None
    sealed = desk.db.seal.seal(stored_json(spec_to_json(closing)), context=of_closing(*place))
    desk.db.run("put_closing", *place, call.fence, sealed)
    return desk.chain.append(event)
