"""Puts a decision into the form in which the store takes it: all guards and all that is taken, in one value."""

from __future__ import annotations

from interlock.core.approval import Approval
from interlock.core.decision import Allow, Ask, binding
from interlock.core.facts import Facts
from interlock.core.journal import Event
from interlock.core.operation import Operation
from interlock.core.redaction import Redactor
from interlock.core.stored import seal
from interlock.core.summary import summarize
from interlock.ports import Intent, StoredOperation


def intent_of(operation: Operation, facts: Facts, allow: Allow, *, operation_id: str, event: Event | None) -> Intent:
    """What the claim of an allowed operation takes. Without an event it is a read that may be held in memory."""
    spec = operation.tool.spec
    stands_on_run = operation.caller.run is not None and (facts.slice.reads_run or facts.guessed)
    return Intent(  # by position, as every call comes by: names take half as long as what is made
        stored_of(operation, operation_id, whole=operation.key is not None),
        event,
        facts.reservations,
        facts.epoch,
        facts.as_of_us,
        spec.idempotency.lifetime_s * 1_000_000,
        spec.labels,
        facts.run.version if stands_on_run else None,
        None if allow.grant is None else allow.grant.id,
        allow.continues,
        event is None,
    )


def stored_of(operation: Operation, operation_id: str, *, whole: bool) -> StoredOperation:
    """The operation as it is kept. Only what changes something, or waits, needs to be kept whole."""
    caller, tool = operation.caller, operation.tool
    principal, spec = caller.principal, tool.spec
    return StoredOperation(
        operation_id,
        principal.tenant,
        spec.name,
        spec.source,
        spec.version,
        tool.digest,
        operation.digest,
        operation.model_digest,
        principal.id,
        operation.call.id,
        seal(operation) if whole else b"",
        operation.key,
        caller.run,
        caller.task,
        spec.effect.repeatable,
    )


def approval_of(operation: Operation, facts: Facts, ask: Ask, *, ids: tuple[str, str], redactor: Redactor) -> Approval:
    """The question to people: what exactly would run, and what approving it needs. `ids`: approval, operation."""
    caller = operation.caller
    return Approval(
        id=ids[0],
        tenant=caller.principal.tenant,
        operation_id=ids[1],
        binding=binding(operation, facts, ask.verdict),
        requirement=ask.requirement,
        summary=summarize(operation, redactor),
        asked_at_us=facts.as_of_us,
        expires_at_us=facts.as_of_us + ask.requirement.lifetime_s * 1_000_000,
        run=caller.run,
        task=caller.task,
        key=operation.key,
        call_id=operation.call.id,
        expectation=operation.call.expectation,
        requesters=frozenset({caller.principal.id, caller.principal.on_behalf_of}),
    )
