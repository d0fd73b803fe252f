"""Approvals in SQLite: what one op of a transaction does with questions, votes and grants."""

from __future__ import annotations

from interlock.core.approval import Approval, ApprovalState
from interlock.core.chain import Receipt
from interlock.core.labels import NO_LABELS
from interlock.ports import ApprovalChange, Asking, StoredOperation
from interlock.store.rows import read_approval, read_operation, write_approval, write_operation
from interlock.store.rules import denied_in_run, is_same_question, still_as_expected
from interlock.store.seal import of_approval, of_waiting
from interlock.store.sqlite_db import Db, Row
from interlock.store.sqlite_desk import Desk, Place


def ask(desk: Desk, *, asking: Asking) -> tuple[Approval, Receipt | None]:
    """Store the question, or find the identical one that stands, and then write nothing."""
    asked = asking.approval
    standing = _same_question(desk.db, asked)
    if standing is not None:
        return standing, None
    desk.books.load(asking.charges)
    desk.may_ask = True
    _insert(desk.db, asked, operation=asking.operation)
    receipt = desk.chain.append(asking.event)
    desk.books.charge(asking.charges)
    return asked, receipt


def change(desk: Desk, *, step: ApprovalChange) -> Receipt | None:
    """Vote, withdraw, expire or void. None: it has changed meanwhile."""
    changed = step.changed
    if not still_as_expected(stored_approval(desk.db, place=(step.expected.tenant, step.expected.id)), change=step):
        return None
    desk.db.run("change_approval", changed.state, _sealed(desk.db, changed), changed.tenant, changed.id)
    denied = denied_in_run(step)
    run = None if denied is None else desk.books.runs[changed.tenant, denied[0]]
    receipt = desk.chain.append(step.event)
    if denied is not None and run is not None:
        desk.books.join((changed.tenant, run.id), labels=NO_LABELS, denied=denied[1])
    return receipt


def use_approvals(desk: Desk, *, operation: StoredOperation, approval: Approval | None) -> None:
    """Use up the claim's own approval; the others that wait on its key are void."""
    if approval is not None:
        desk.db.run("use_approval", operation.tenant, approval.id)
    if operation.key is not None and desk.may_ask:
        desk.db.run("void_pending", operation.tenant, operation.key)


def is_any_pending(db: Db) -> bool:
    """Whether some question waits for an answer."""
    return db.one("select_any_pending") is not None


def stored_approval(db: Db, *, place: Place) -> Approval | None:
    """One approval."""
    found = with_operation(db, place=place)
    return None if found is None else found[0]


def with_operation(db: Db, *, place: Place) -> tuple[Approval, StoredOperation] | None:
    """One approval with its operation."""
    row = db.one("select_approval", *place)
    if row is None:
        return None
    operation = db.seal.open(row[4], context=of_waiting(*place))
    return _approval(db, row[:4]), read_operation(operation)


def approvals(db: Db, *, tenant: str | None, state: ApprovalState | None) -> tuple[Approval, ...]:
    """All of a tenant, or of every tenant, oldest first."""
    return tuple(_approval(db, row) for row in db.named("select_approvals", {"tenant": tenant, "state": state}))


def _same_question(db: Db, asked: Approval) -> Approval | None:
    if asked.key is None:
        return None
    standing = (_approval(db, row) for row in db.all("select_same", asked.tenant, asked.key))
    return next((approval for approval in standing if is_same_question(asked, standing=approval)), None)


def _insert(db: Db, approval: Approval, *, operation: StoredOperation) -> None:
    context = of_waiting(approval.tenant, approval.id)
    db.run(
        "insert_approval",
        approval.tenant,
        approval.id,
        approval.state,
        approval.key,
        approval.asked_at_us,
        approval.run,
        _sealed(db, approval),
        db.seal.seal(write_operation(operation), context=context),
    )


def _sealed(db: Db, approval: Approval) -> bytes:
    return db.seal.seal(write_approval(approval), context=of_approval(approval.tenant, approval.id))


def _approval(db: Db, row: Row) -> Approval:
    tenant, approval_id, state, sealed = row
    return read_approval(db.seal.open(sealed, context=of_approval(tenant, approval_id)), state=state)
