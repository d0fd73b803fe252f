"""Approvals in PostgreSQL: what one op of a batch does with questions, votes and grants."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.core.approval import Approval, ApprovalState
from interlock.core.chain import Receipt
from interlock.core.labels import NO_LABELS
from interlock.ports import ApprovalChange, Asking, StoredOperation
from interlock.store.postgres_rows import ApprovalRow, place_of
from interlock.store.postgres_sheet import Needs, Sheet
from interlock.store.rows import read_approval, read_operation, write_approval, write_operation
from interlock.store.rules import STANDING, denied_in_run, is_same_question, still_as_expected
from interlock.store.seal import Seal, of_approval, of_waiting


@dataclass(frozen=True, slots=True)
class Questioning:
    """Store the question, or find the identical one that stands, and then write nothing."""

    asking: Asking

    def needs(self, needs: Needs, _: Sheet) -> None:
        asked = self.asking.approval
        needs.touched.update(scope for scope, _, _ in self.asking.charges)
        if asked.key is not None:
            needs.questions.add(place_of(asked.tenant, asked.key))

    def run(self, sheet: Sheet) -> tuple[Approval, Receipt | None]:
        asked = self.asking.approval
        standing = _same_question(sheet, asked)
        if standing is not None:
            return standing, None
        context = of_waiting(asked.tenant, asked.id)
        row = ApprovalRow(
            place_of_approval(asked.tenant, asked.id),
            asked.tenant,
            asked.id,
            asked.state,
            _sealed(sheet.seal, asked),
            sheet.seal.seal(write_operation(self.asking.operation), context=context),
            None if asked.key is None else place_of(asked.tenant, asked.key),
            asked.asked_at_us,
            None if asked.run is None else place_of(asked.tenant, asked.run),
        )
        receipt = sheet.append(self.asking.event)
        sheet.ask(row)
        sheet.books.charge(self.asking.charges)
        return asked, receipt


@dataclass(frozen=True, slots=True)
class Changing:
    """Vote, withdraw, expire or void. None: it has changed meanwhile."""

    step: ApprovalChange

    def needs(self, needs: Needs, _: Sheet) -> None:
        needs.approvals.add(place_of_approval(self.step.expected.tenant, self.step.expected.id))
        denied = denied_in_run(self.step)
        if denied is not None:
            needs.runs.add((self.step.changed.tenant, denied[0]))

    def run(self, sheet: Sheet) -> Receipt | None:
        expected, changed = self.step.expected, self.step.changed
        row = sheet.approvals.get(place_of_approval(expected.tenant, expected.id))
        if row is None or not still_as_expected(approval_of(row, seal=sheet.seal), change=self.step):
            return None
        sealed, denied = _sealed(sheet.seal, changed), denied_in_run(self.step)
        receipt = sheet.append(self.step.event)
        row.state, row.approval_sealed = changed.state, sealed
        sheet.move(row)
        if denied is not None:
            sheet.books.join((changed.tenant, denied[0]), labels=NO_LABELS, denied=denied[1])
        return receipt


def use_approvals(sheet: Sheet, tenant: str, *, key: str | None, approval: str | None) -> None:
    """Use up the claim's own approval; the others that wait on its key are void."""
    if approval is not None:
        own = sheet.approvals[place_of_approval(tenant, approval)]
        own.state = ApprovalState.USED
        sheet.move(own)
    if key is None:
        return
    key_place = place_of(tenant, key)
    sheet.voided.add(key_place)
    for row in sheet.approvals.values():
        if row.key_place == key_place and row.state == ApprovalState.PENDING:
            row.state = ApprovalState.VOID
            sheet.move(row)


def stored_approval(sheet: Sheet, tenant: str, approval_id: str) -> Approval | None:
    """One approval."""
    row = sheet.approvals.get(place_of_approval(tenant, approval_id))
    return None if row is None else approval_of(row, seal=sheet.seal)


def place_of_approval(tenant: str, approval_id: str) -> bytes:
    """Where an approval stands."""
    return place_of(tenant, approval_id)


def approval_of(row: ApprovalRow, *, seal: Seal) -> Approval:
    """The approval of a row."""
    return approval_of_columns((row.tenant, row.id, row.state, row.approval_sealed), seal=seal)


def approval_of_columns(row: tuple[str, str, str, bytes], *, seal: Seal) -> Approval:
    """The approval of these columns."""
    tenant, approval_id, state, sealed = row
    return read_approval(seal.open(sealed, context=of_approval(tenant, approval_id)), state=state)


def operation_of(row: ApprovalRow, *, seal: Seal) -> StoredOperation:
    """The operation that waits for it."""
    return read_operation(seal.open(row.operation_sealed, context=of_waiting(row.tenant, row.id)))


def _same_question(sheet: Sheet, asked: Approval) -> Approval | None:
    if asked.key is None:
        return None
    key_place = place_of(asked.tenant, asked.key)
    rows = (row for row in sheet.approvals.values() if row.key_place == key_place)
    found = (approval_of(row, seal=sheet.seal) for row in rows if row.state in STANDING)
    return next((approval for approval in found if is_same_question(asked, standing=approval)), None)


def _sealed(seal: Seal, approval: Approval) -> bytes:
    return seal.seal(write_approval(approval), context=of_approval(approval.tenant, approval.id))
