"""Proves a log: the records of all chains together with the checkpoints that sign where they stood.

The log is read in the order in which a checkpoint follows exactly the records that it covers: the records up to the
heads of checkpoint 1 (chains in any interleaving), checkpoint 1, the records up to those of checkpoint 2, and so on, at
the end the records that no checkpoint covers yet; `interlock.core.checkpoint.spans` says what to read when. So memory
holds one tail for each chain, whatever the log's length.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from interlock.core.chain import (
    Break,
    ChainWalk,
    Damage,
    Head,
    Record,
    Stretch,
    Veiled,
    explained,
    genesis,
    is_hash,
    is_head,
)
from interlock.core.checkpoint import BEGINNING, Checkpoint, Mark, heads_root
from interlock.core.frozen import frozen
from interlock.core.signing import fingerprint, is_signed

LogItem: TypeAlias = Record | Veiled | Checkpoint


@frozen
class Verified:
    """What a log was shown to hold, and in `limits`, in sentences, what this could not show.

    `records` counts all records, `unsigned` those after the last checkpoint, `veiled` those shown by hash alone.
    `payloads` and `purged` count in an export the payloads that fit their commitments and those no longer there.
    """

    heads: tuple[Head, ...]
    mark: Mark
    records: int
    unsigned: int
    veiled: int
    limits: tuple[str, ...]
    payloads: int = 0
    purged: int = 0

    @property
    def signed(self) -> bool:
        """Whether a signed checkpoint covers every record."""
        return self.mark != BEGINNING and self.unsigned == 0

    @property
    def sentence(self) -> str:
        """What holds, in words; `limits` says what that cannot show."""
        held = f"{_counted(self.records, 'record')} in {_counted(len(self.heads), 'chain')}"
        if self.mark == BEGINNING:
            return f"The log holds: {held}, none of them signed."
        covered = "all" if self.unsigned == 0 else f"all but the last {self.unsigned}"
        return f"The log holds: {held}, {covered} signed by checkpoint {self.mark.number}."


def verify_log(
    items: Iterable[LogItem], *, keys: frozenset[bytes], since: int = 0, outside: tuple[Head | Mark, ...] = ()
) -> Verified | Break:
    """What the log shows, or its first break.

    `keys` are the raw public keys that are trusted. `since` is the checkpoint that the log begins with, 0 where it is
    whole. `outside` holds heads, receipts and marks that were kept elsewhere: with them a cut end and a log that was
    written anew are found.
    """
    reading = LogReading(keys, since=since, outside=outside)
    rest = iter(items)
    for item in rest:
        broken = reading.take(item)
        if broken:
            return explained(broken, rest=records_of(rest))
    return reading.finish()


def unlike_ends(read: Iterable[Head], *, before: Iterable[Head], after: Iterable[Head]) -> Break | None:
    """Where the records that were read end elsewhere than their store says of its chains.

    `before` are its heads when reading began and `after` when it ended; it may have been written meanwhile.
    """
    ends = {head.chain: head for head in read}
    for head in before:
        end = ends.get(head.chain, genesis(head.chain))
        if end.sequence < head.sequence:
            sentence = f"the chain has {head.sequence} records, and {end.sequence} are there"
            return Break(Damage.TRUNCATED, sentence, head.chain, end.sequence + 1)
    last = {head.chain: head for head in after}
    for end in ends.values():
        head = last.get(end.chain, genesis(end.chain))
        if end.sequence > head.sequence:
            sentence = f"the record stands beyond the end of its chain, which has {head.sequence}"
            return Break(Damage.FORGED, sentence, end.chain, head.sequence + 1)
        if end.sequence == head.sequence and end.hash != head.hash:
            return Break(
                Damage.REWRITTEN, "the record is not the one that its chain ends with", end.chain, end.sequence
            )
    return None


def records_of(items: Iterable[LogItem]) -> Iterator[Record | Veiled]:
    return (item for item in items if not isinstance(item, Checkpoint))


class LogReading:
    """How far a log has been read: it takes items one by one, and keeps no more than the tail of each chain."""

    def __init__(self, keys: frozenset[bytes], *, since: int = 0, outside: tuple[Head | Mark, ...] = ()) -> None:
        self._keys = {fingerprint(key): key for key in keys}
        self._since = since
        self.held = tuple(held for held in outside if isinstance(held, Head))
        self._walk = ChainWalk(self.held)
        self._marks = tuple(held for held in outside if isinstance(held, Mark))
        self._mark = BEGINNING
        self._records = self._unsigned = self._veiled = 0

    def begin(self, head: Head) -> Break | None:
        """Begin a chain there, where what comes before it is proved elsewhere."""
        return self._walk.start(head)

    def stretch(self, start: Head) -> Stretch:
        """What was read of a chain that was begun there."""
        return self._walk.stretch(start)

    def take(self, item: LogItem) -> Break | None:
        if isinstance(item, Checkpoint):
            return self._checkpoint(item)
        if self._since and self._begins_late():
            return _at(Damage.MISSING, number=self._since, says="is missing, with which this log begins")
        self._records += 1
        self._unsigned += 1
        self._veiled += type(item) is Veiled
        return self._walk.advance(item)

    def follow(self, records: Sequence[Record | Veiled]) -> int:
        """Takes as many of these as follow one on the other, as `take` takes each; how many. It names no break."""
        if self._begins_late():
            return 0
        count = self._walk.follow(records)
        self._records += count
        self._unsigned += count
        return count

    def pass_over(self, stretch: Stretch) -> bool:
        """Takes records that were proved elsewhere, against the heads held outside too; False: read them here."""
        if self._begins_late() or not self._walk.pass_over(stretch):
            return False
        count = stretch.end.sequence - stretch.start.sequence
        self._records += count
        self._unsigned += count
        return True

    def heads(self) -> tuple[Head, ...]:
        return self._walk.heads()

    def finish(self) -> Verified | Break:
        if self._begins_late():
            return _at(Damage.MISSING, number=self._since, says="is missing, with which this log begins")
        lost = self._walk.unreached() or self._lost_mark()
        if lost:
            return lost
        return Verified(self.heads(), self._mark, self._records, self._unsigned, self._veiled, self._limits())

    def _begins_late(self) -> bool:
        return self._since > 0 and self._mark == BEGINNING

    def _checkpoint(self, checkpoint: Checkpoint) -> Break | None:
        broken = self._unsound(checkpoint) or self._out_of_line(checkpoint) or self._against_marks(checkpoint.mark)
        if broken:
            return broken
        broken = self._adopted(checkpoint) if self._begins_late() else self._unlike(checkpoint)
        self._mark = checkpoint.mark
        self._unsigned = 0
        return broken

    def _unsound(self, checkpoint: Checkpoint) -> Break | None:
        """What is wrong with a checkpoint by itself."""
        if not _is_checkpoint(checkpoint):
            return _at(Damage.MALFORMED, number=self._mark.number + 1, says="does not have the form of a checkpoint")
        key = self._keys.get(checkpoint.key_fingerprint)
        if key is None:
            return _at(Damage.FORGED, number=checkpoint.number, says="is signed by a key that is not trusted")
        if not is_signed(checkpoint.statement, signature=checkpoint.signature, public_key=key):
            return _at(Damage.FORGED, number=checkpoint.number, says="does not have its key's signature")
        if heads_root(checkpoint.heads) != checkpoint.root:
            return _at(Damage.EDITED, number=checkpoint.number, says="lists heads that are not those that were signed")
        return None

    def _out_of_line(self, checkpoint: Checkpoint) -> Break | None:
        """What is wrong with a checkpoint's place after the one before it."""
        expected = max(self._mark.number + 1, self._since)
        if checkpoint.number > expected:
            return _at(Damage.MISSING, number=expected, says=f"is not there: {checkpoint.number} comes instead")
        if checkpoint.number < expected:
            return _at(Damage.REORDERED, number=checkpoint.number, says=f"stands where {expected} belongs")
        if not self._begins_late() and checkpoint.previous != self._mark.hash:
            return _at(Damage.REWRITTEN, number=checkpoint.number, says="does not follow the checkpoint before it")
        return None

    def _against_marks(self, mark: Mark) -> Break | None:
        if any(held.number == mark.number and held != mark for held in self._marks):
            return _at(Damage.REWRITTEN, number=mark.number, says="is not the one that a mark held outside knows")
        return None

    def _adopted(self, checkpoint: Checkpoint) -> Break | None:
        """Starts every chain where the first checkpoint of a partial log says."""
        for head in checkpoint.heads:
            broken = self._walk.start(head)
            if broken:
                return broken
        return None

    def _unlike(self, checkpoint: Checkpoint) -> Break | None:
        """Where the records that were read do not end where the checkpoint says."""
        signed = {head.chain: head for head in checkpoint.heads}
        for chain in sorted({*signed, *(head.chain for head in self.heads())}):
            read = self._walk.head(chain)
            known = signed.get(chain)
            if read != known and (known or read.sequence):
                return _unlike(read, signed=known.sequence if known else 0, number=checkpoint.number)
        return None

    def _lost_mark(self) -> Break | None:
        for held in self._marks:
            if held.number > self._mark.number:
                cut = self._mark.number + 1
                return _at(
                    Damage.TRUNCATED,
                    number=cut,
                    says=f"is cut off: a mark held outside knows {held.number} checkpoints",
                )
            if held.number < self._since:
                return _at(Damage.MISSING, number=held.number, says="is held outside and older than what is shown")
        return None

    def _limits(self) -> tuple[str, ...]:
        anchored = self._marks or self._walk.anchored
        found = [
            "Whoever holds the signing key can rewrite the log and sign it anew; only what is held outside shows that"
            + (", for all that came before it." if anchored else ", and no head or mark held outside was given.")
        ]
        if not anchored:
            found.append(
                "A log that was cut back to an earlier checkpoint, with all that followed, looks like this one."
            )
        if self._mark == BEGINNING:
            found.append("Nothing in this log is signed.")
        elif self._unsigned:
            found.append(
                f"No checkpoint covers the last {self._unsigned} records: cut or rewritten, they would not show."
            )
        if self._since:
            found.append(f"What came before checkpoint {self._since} is not shown.")
        return tuple(found)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _unlike(read: Head, *, signed: int, number: int) -> Break:
    if read.sequence < signed:
        sentence = f"checkpoint {number} covers {signed} records of the chain, and {read.sequence} are there"
        return Break(Damage.TRUNCATED, sentence, read.chain, read.sequence + 1)
    if read.sequence > signed:
        sentence = f"the record stands before checkpoint {number}, which does not cover it"
        return Break(Damage.REORDERED, sentence, read.chain, signed + 1)
    sentence = f"the record is not the one that checkpoint {number} covers"
    return Break(Damage.REWRITTEN, sentence, read.chain, read.sequence)


def _is_checkpoint(checkpoint: Checkpoint) -> bool:
    numbers: tuple[object, ...] = (checkpoint.number, checkpoint.time_us)
    chains = [head.chain for head in checkpoint.heads]
    return (
        all(type(number) is int for number in numbers)
        and all(map(is_hash, (checkpoint.root, checkpoint.previous, checkpoint.key_fingerprint)))
        and all(map(is_head, checkpoint.heads))
        and all(lower < upper for lower, upper in pairwise(chains))
    )


def _at(what: Damage, *, number: int, says: str) -> Break:
    return Break(what, f"checkpoint {number} {says}", None, number)
