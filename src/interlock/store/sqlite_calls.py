"""Calls in SQLite, from claim to settlement: what one op of a transaction does.

Every op guards first, then writes rows, then the audit record, and changes the books last: an op that fails is rolled
back on the disk and has not touched memory.
"""

from __future__ import annotations

import apsw

from interlock.core.approval import Approval
from interlock.core.chain import Receipt
from interlock.core.effect import CallState
from interlock.core.facts import Prior
from interlock.core.labels import NO_LABELS, Labels
from interlock.ports import Claim, Entry, Intent, Look, NotClaimed, Seen, Settlement
from interlock.store.books import kept_while_unknown
from interlock.store.locks import Presence
from interlock.store.rows import read_holds, read_labels, write_holds, write_labels
from interlock.store.rules import FIRST_FENCE, is_key_over, is_usable, may_continue, settled_state
from interlock.store.seal import of_call
from interlock.store.sqlite_approvals import stored_approval, use_approvals
from interlock.store.sqlite_books import stored_run, stored_usage
from interlock.store.sqlite_db import Db
from interlock.store.sqlite_desk import Desk, Place, Standing

# What every call is compared with: looking a member up in its class costs as much as a call.
_CLAIMED, _UNKNOWN, _RELEASED = CallState.CLAIMED, CallState.UNKNOWN, CallState.RELEASED


# --- claims -----------------------------------------------------------------------------------------------------------


def claim(desk: Desk, *, intent: Intent) -> Claim | NotClaimed:
    """Take everything the intent names, or nothing."""
    refused = epoch_or_run(desk, intent=intent)
    if refused is not None:
        return refused
    operation = intent.operation
    approval = None
    if intent.approval is not None:
        approval = stored_approval(desk.db, place=(operation.tenant, intent.approval))
        if not is_usable(approval, intent=intent):
            return NotClaimed.APPROVAL
    if intent.continues is not None:
        return _continue(desk, intent=intent, approval=approval)
    usage = desk.books.fitting(intent.reservations)
    if usage is None:
        return NotClaimed.BUDGET
    desk.know_key(operation.key)
    if not _insert_claimed(desk, intent=intent):
        return NotClaimed.KEY
    rowid = desk.db.connection.last_insert_rowid()
    if approval is not None or desk.may_ask:
        use_approvals(desk, operation=operation, approval=approval)
    if intent.event is not None:
        desk.chain.append(intent.event)
    desk.books.enter(usage)
    if operation.run is not None:
        join_ceiling(desk, intent=intent)
    desk.claimed[operation.tenant, operation.id] = Standing(
        rowid, _CLAIMED, FIRST_FENCE, operation.run, intent.reservations
    )
    return Claim(operation.id, operation.tenant, FIRST_FENCE)


def epoch_or_run(desk: Desk, *, intent: Intent) -> NotClaimed | None:
    """The guards that need no row."""
    if intent.epoch != desk.epoch:
        return NotClaimed.EPOCH
    operation, run = intent.operation, intent.operation.run
    if run is not None and not desk.books.takes_calls((operation.tenant, run), at=intent.run_version):
        return NotClaimed.RUN
    return None


def claim_fused(desk: Desk, *, intent: Intent) -> Claim | NotClaimed:
    """Hold a read in memory alone, to be written with its settlement."""
    refused = epoch_or_run(desk, intent=intent)
    if refused is not None:
        return refused
    usage = desk.books.fitting(intent.reservations)
    if usage is None:
        return NotClaimed.BUDGET
    # The holds are no change that has to be written, unlike what else happens to these scopes.
    desk.books.usage.update(usage)
    join_ceiling(desk, intent=intent)
    operation = intent.operation
    desk.fused[operation.tenant, operation.id] = intent
    return Claim(operation.id, operation.tenant, FIRST_FENCE)


def make_fused_durable(desk: Desk) -> None:
    """Claim every read that is held in memory alone: another process is about to count too."""
    for place in tuple(desk.fused):
        _make_durable(desk, place=place)


def _make_durable(desk: Desk, *, place: Place) -> None:
    intent = desk.fused[place]
    _insert(desk, intent=intent)
    del desk.fused[place]
    desk.books.changed_usage.update(scope for scope, _, _ in intent.reservations)


def join_ceiling(desk: Desk, *, intent: Intent) -> None:
    """A claimed call contributes the most that its tool may read at once."""
    operation = intent.operation
    if operation.run is not None:
        desk.books.join((operation.tenant, operation.run), labels=intent.ceiling, tool=operation.tool)


def _continue(desk: Desk, *, intent: Intent, approval: Approval | None) -> Claim | NotClaimed:
    """Take the call that holds the key under a new fence. What it held is used up; the repeat holds anew."""
    place = (intent.operation.tenant, intent.continues or "")
    row = desk.db.one("select_continued", *place)
    if row is None or row[1] != intent.operation.key:
        return NotClaimed.KEY
    if not may_continue(CallState(row[0]), at_work=desk.presence.is_alive(row[2])):
        return NotClaimed.KEY
    held = read_holds(row[3])
    desk.books.load(held)
    if desk.books.fitting(intent.reservations) is None:
        return NotClaimed.BUDGET
    taken = claim_again(desk, place=place)
    desk.db.run("hold_again", write_holds(intent.reservations), *place)
    use_approvals(desk, operation=intent.operation, approval=approval)
    if intent.event is not None:
        desk.chain.append(intent.event)
    desk.books.use_up(held)
    desk.books.exchange((), kept=intent.reservations)
    join_ceiling(desk, intent=intent)
    return taken


def claim_again(desk: Desk, *, place: Place) -> Claim:
    """Take a call under a new fence, its hold kept."""
    tenant, operation_id = place
    row = desk.db.one("claim_again", desk.owner, tenant, operation_id)
    if row is None:
        raise LookupError(operation_id)
    return Claim(operation_id, tenant, row[0])


def _insert_claimed(desk: Desk, *, intent: Intent) -> bool:
    """Whether the operation was never claimed and its key was free: the table's own constraints say so."""
    try:
        _insert(desk, intent=intent)
    except apsw.ConstraintError:
        operation = intent.operation
        desk.db.run("free_key", operation.tenant, operation.key, intent.at_us)
        if desk.db.changes() == 0 or desk.db.one("select_claim", operation.tenant, operation.id) is not None:
            return False
        _insert(desk, intent=intent)
    return True


def _insert(desk: Desk, *, intent: Intent) -> None:
    operation = intent.operation
    desk.insert_call(
        (
            operation.tenant,
            operation.id,
            desk.owner,
            intent.at_us,
            intent.at_us + intent.lifetime_us,
            operation.key is not None,
            operation.key,
            operation.run,
            operation.task,
            operation.tool,
            operation.source,
            operation.version,
            operation.spec_digest,
            operation.digest,
            operation.model_digest,
            operation.principal,
            operation.call_id,
            operation.repeatable,
            write_holds(intent.reservations),
            seal_up(desk.db, place=(operation.tenant, operation.id), data=operation.sealed),
        )
    )


# --- settlements ------------------------------------------------------------------------------------------------------


def settle(desk: Desk, *, settlement: Settlement) -> Receipt | None:
    """Write the outcome and release the hold. None: fenced, or ended already."""
    place = (settlement.claim.tenant, settlement.claim.operation_id)
    intent = desk.fused.get(place)
    if intent is not None:
        return _settle_fused(desk, intent=intent, settlement=settlement)
    return _settle_durable(desk, place=place, settlement=settlement)


def _settle_durable(desk: Desk, *, place: Place, settlement: Settlement) -> Receipt | None:
    standing = desk.claimed.get(place) or _standing(desk.db, place=place)
    state = None
    if standing is not None and standing.fence == settlement.claim.fence:
        state = settled_state(standing.state, what=settlement.what)
    if standing is None or state is None:
        return None
    kept = kept_while_unknown(standing.holds, spent=settlement.spent) if state is _UNKNOWN else None
    desk.books.load(standing.holds)
    observation, labels = settlement.observation, settlement.labels
    desk.settle_call(
        (
            state,
            settlement.at_us,
            None if kept is None else write_holds(kept),
            None if labels is NO_LABELS else write_labels(labels),
            seal_up(desk.db, place=place, data=observation),
            standing.rowid,
        )
    )
    if state is _RELEASED:
        desk.db.run("give_key_back", standing.rowid)
    elif state is _UNKNOWN and not settlement.goes_on:
        desk.db.run("be_nobodys", standing.rowid)
    receipt = desk.chain.append(settlement.event)
    desk.claimed.pop(place, None)
    if kept is None:
        desk.books.settle(standing.holds, spent=settlement.spent)
    else:
        desk.books.exchange(standing.holds, kept=kept)
    _join_run(desk, place=place, run=standing.run, labels=labels)
    return receipt


def _standing(db: Db, *, place: Place) -> Standing | None:
    row = db.one("select_claim", *place)
    return None if row is None else Standing(row[0], CallState(row[1]), row[2], row[3], read_holds(row[4]))


def _settle_fused(desk: Desk, *, intent: Intent, settlement: Settlement) -> Receipt | None:
    """Claim and settlement of a read as one record, without a row: nobody asks for it any more, for it has no key.

    An unknown outcome makes it a claim like any other, to be closed.
    """
    place = (settlement.claim.tenant, settlement.claim.operation_id)
    state = settled_state(CallState.CLAIMED, what=settlement.what)
    if state is None or settlement.claim.fence != FIRST_FENCE:
        return None
    if state is CallState.UNKNOWN:
        _make_durable(desk, place=place)
        return _settle_durable(desk, place=place, settlement=settlement)
    receipt = desk.chain.append(settlement.event)
    del desk.fused[place]
    desk.books.settle(intent.reservations, spent=settlement.spent)
    _join_run(desk, place=place, run=intent.operation.run, labels=settlement.labels)
    return receipt


def record(desk: Desk, *, entry: Entry) -> Receipt:
    """Write a record that claims nothing."""
    desk.books.load(entry.charges)
    receipt = desk.chain.append(entry.event)
    desk.books.charge(entry.charges)
    _join_run(desk, place=(entry.event.tenant, ""), run=entry.run, labels=entry.labels)
    return receipt


def _join_run(desk: Desk, *, place: Place, run: str | None, labels: Labels) -> None:
    if run is not None and labels is not NO_LABELS:
        desk.books.join((place[0], run), labels=labels)


# --- reads ------------------------------------------------------------------------------------------------------------


def look_on_disk(db: Db, *, look: Look, presence: Presence) -> Seen:
    """One consistent read that asks no memory: another process may have written."""
    with db.one_moment():
        run = None if look.run is None else stored_run(db, key=(look.tenant, look.run))
        usage = tuple(stored_usage(db, scope=scope) for scope in look.scopes)
        return Seen(prior(db, look=look, presence=presence), run, usage)


def prior(db: Db, *, look: Look, presence: Presence) -> Prior | None:
    """The call that has the key."""
    row = None if look.key is None else db.one("select_prior", look.tenant, look.key)
    if row is None:
        return None
    operation_id, tool, model_digest, name, owner, sealed, at_us, settled_us, until_us, labels = row
    state = CallState(name)
    if is_key_over(state, until_us=until_us, at_us=look.at_us):
        return None
    observation = open_sealed(db, place=(look.tenant, operation_id), sealed=sealed)
    done_us = at_us if settled_us is None else settled_us
    goes_on = state is CallState.UNKNOWN and presence.is_alive(owner)
    return Prior(operation_id, tool, model_digest, state, observation, done_us, read_labels(labels), goes_on)


def seal_up(db: Db, *, place: Place, data: bytes | None) -> bytes | None:
    """What a row of this call keeps sealed."""
    if data is None or db.keeps_plain:
        return data
    return db.seal.seal(data, context=of_call(*place))


def open_sealed(db: Db, *, place: Place, sealed: bytes | None) -> bytes | None:
    """Retention leaves an empty operation, which was never sealed."""
    return db.seal.open(sealed, context=of_call(*place)) if sealed else sealed
