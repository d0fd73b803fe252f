"""A batch in which one call is claimed, or becomes another, as one statement: most batches are such.

What such a statement does, and in which order, stands in `claim_call` and `change_call` (migration 11).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from interlock.core.budget import Amounts
from interlock.core.journal import Event
from interlock.core.run import RunFacts
from interlock.store.postgres_line import Sent, Spelled, Step
from interlock.store.postgres_rows import CallRow
from interlock.store.rows import write_holds, write_run

Cells = list[Sent]

Recorded = tuple[int, bytes, bytes, Event, bytes | None, bytes | None]
"""A record of a batch: its place, hash and body, its event, and what is kept beside it, open and sealed."""

NO_RUN: Final[Cells] = [None] * 5
"""Where no run is looked at."""

NO_RECORD: Final[Cells] = [None] * 12


@dataclass(frozen=True, slots=True)
class Held:
    """The places of scopes, and what a claim and a settlement add to each of them."""

    places: tuple[bytes, ...]
    claiming: Cells
    _column: bytes
    _amounts: tuple[bytes, bytes, bytes]

    def settled(self, spent: Amounts) -> Cells | None:
        """What a settlement adds; None where it spent what few calls do."""
        if spent.tokens or spent.cost_micros:
            return None
        return [self._column, self._amounts[0], b"%d" % spent.working_ms, *self._amounts, None]


def claim_step(begun: Cells, parts: tuple[Cells, Cells, Cells], row: CallRow) -> Step:
    """One call is claimed. `begun` is the batch with what was assumed, `parts` what becomes of scopes, run and log."""
    moved, run, record = parts
    call = [
        row.place,
        row.tenant.encode(),
        row.id.encode(),
        b"%d" % row.fence,
        b"%d" % row.at_us,
        b"%d" % row.until_us,
        row.key_place,
        _text(row.run),
        _text(row.task),
        row.head,
        write_holds(row.holds),
        row.operation_sealed,
    ]
    return ("write_claim", Spelled([*begun, *moved, *run, *call, *record], _CLAIM))


def call_step(begun: Cells, parts: tuple[Cells, Cells, Cells], row: CallRow) -> Step:
    """One call is another now. `begun` is its batch."""
    moved, run, record = parts
    call = [
        row.place,
        row.state.encode(),
        b"%d" % row.fence,
        b"t" if row.taken_over else b"f",
        b"%d" % row.owner,
        None if row.settled_us is None else b"%d" % row.settled_us,
        b"t" if row.holds_key else b"f",
        write_holds(row.holds),
        row.labels,
        row.observation_sealed,
        b"%d" % row.looks_count,
        b"%d" % row.looks_next_us,
        b"t" if row.looks_escalated else b"f",
    ]
    return ("write_call", Spelled([*begun, *moved, *run, *call, *record], _CALL))


def run_cells(place: bytes, assumed: int, changed: RunFacts | None) -> Cells:
    """A run that was assumed at a version, and what it has done, where that has changed."""
    if changed is None:
        return [place, b"%d" % assumed, None, None, None]
    return [place, b"%d" % assumed, b"%d" % changed.version, write_run(changed), _text(changed.ended)]


def record_cells(chain: int, sequence: int, recorded: Recorded) -> Cells:
    """The only record of a batch, with the head that it leads to."""
    place, digest, body, event, first, sealed = recorded
    return [
        b"%d" % sequence,
        digest,
        b"%d" % chain,
        b"%d" % place,
        body,
        event.tenant.encode(),
        event.kind.encode(),
        b"%d" % event.at_us,
        event.call.encode(),
        event.subject.encode(),
        first,
        sealed,
    ]


def _text(text: str | None) -> Sent:
    return None if text is None else text.encode()


def _forms(*parts: str) -> tuple[int, ...]:
    """How values travel: 1 as bytes and texts do, which are sent as they are; 0 as numbers do, by their digits."""
    return tuple(map(int, "".join(parts)))


_RUN: Final = "10011"
_RECORD: Final = "010011101111"
_CLAIM: Final = _forms("0000", "10001100", _RUN, "111000111111", _RECORD)
_CALL: Final = _forms("00", "1000000", _RUN, "1100000111000", _RECORD)
