"""Links audit records into hash chains, so that any later change of one shows at its place.

One chain belongs to one writing process. It starts at a hash of its own name, and every record's hash covers the hash
before it and the hash of the record's stored bytes:

    hash(0) = SHA-256("interlock/1/genesis" 0x00 || chain)
    hash(n) = SHA-256("interlock/1/record" 0x00 || hash(n - 1) || SHA-256(body(n)))

So the name is bound by the start, the sequence by the position, and the body by its hash. A body that may not be shown
(another tenant's) is replaced by its hash, and the chain still links. A body holds commitments to payloads, never
payloads, so retention can delete a payload with its salt and the chain does not notice.

A chain alone shows edits, gaps and forks. It cannot show that its end was cut off or that all of it was written anew;
checkpoints (`interlock.core.checkpoint`) and heads held outside do.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from hashlib import sha256
from typing import Final, TypeAlias

from interlock.core.frozen import frozen

SALT_BYTES: Final = 16

_GENESIS: Final = b"interlock/1/genesis\x00"
_RECORD: Final = b"interlock/1/record\x00"
_hash_form: Final = re.compile(r"[0-9a-f]{64}").fullmatch


@frozen
class Head:
    """Where a chain stands: the sequence and hash (lower-case hex) of its last record; sequence 0 where it is empty."""

    chain: str
    sequence: int
    hash: str


# A receipt is the head as it was at the receipt's own record: whoever keeps one can hand it to a verification.
Receipt: TypeAlias = Head


@frozen
class Record:
    """One stored record; `body` is exactly the bytes that were hashed."""

    chain: str
    sequence: int
    hash: str
    body: bytes

    @property
    def body_digest(self) -> bytes:
        return sha256(self.body).digest()

    @property
    def head(self) -> Head:
        return Head(self.chain, self.sequence, self.hash)


@frozen
class Veiled:
    """One record whose body is withheld: its hash keeps the chain linked."""

    chain: str
    sequence: int
    hash: str
    body_digest: bytes


@frozen
class Stretch:
    """Records that were proved apart from the rest of their chain: the head that they follow, where they end, and the
    hash before that of the last."""

    start: Head
    end: Head
    before: str


class Damage(StrEnum):
    EDITED = "edited"
    MISSING = "missing"
    REORDERED = "reordered"
    FORKED = "forked"
    TRUNCATED = "truncated"
    REWRITTEN = "rewritten"
    FORGED = "forged"
    MALFORMED = "malformed"


@frozen
class Break:
    """The first place where a log does not hold.

    `chain` and `sequence` name a record; of a checkpoint, `chain` is None and `sequence` its number, 0 where what was
    read has none. `line` counts from 1, where a document was read.
    """

    what: Damage
    sentence: str
    chain: str | None
    sequence: int
    line: int | None = None


class PayloadCheck(StrEnum):
    MATCHES = "matches"
    PURGED = "purged"
    DIFFERS = "differs"


def link(previous: bytes, *, body: bytes) -> bytes:
    """The hash of a record: `previous` is the 32-byte hash before it."""
    return sha256(_RECORD + previous + sha256(body).digest()).digest()


def genesis(chain: str) -> Head:
    """The head of an empty chain."""
    return Head(chain, 0, sha256(_GENESIS + chain.encode("utf-8", "surrogatepass")).hexdigest())


def extend(head: Head, *, bodies: Iterable[bytes]) -> tuple[Record, ...]:
    """The records of one batch; the last one's `head` is the chain's new head."""
    digest = bytes.fromhex(head.hash)
    records = []
    for sequence, body in enumerate(bodies, head.sequence + 1):
        digest = link(digest, body=body)
        records.append(Record(head.chain, sequence, digest.hex(), body))
    return tuple(records)


def commitment(salt: bytes, *, payload: bytes) -> str:
    """SHA-256 over salt and payload, in hex.

    The salt is secret, random, never used twice and `SALT_BYTES` long: with a free length, bytes could be moved between
    salt and payload and the commitment would fit two payloads.
    """
    if len(salt) != SALT_BYTES:
        raise ValueError(f"a salt is {SALT_BYTES} bytes long")
    return sha256(salt + payload).hexdigest()


def verify_payload(committed: str, *, salt: bytes | None, payload: bytes | None) -> PayloadCheck:
    """Whether a payload is the one that a record committed to; one that retention deleted is PURGED, which is fine."""
    if payload is None:
        return PayloadCheck.PURGED
    if salt is None or len(salt) != SALT_BYTES or commitment(salt, payload=payload) != committed:
        return PayloadCheck.DIFFERS
    return PayloadCheck.MATCHES


def verify_chain(records: Iterable[Record | Veiled], *, start: Head, outside: tuple[Head, ...] = ()) -> Head | Break:
    """The head that the records of one chain lead to from `start` (`genesis(chain)` for all of it), or the first break.

    `outside` holds heads and receipts of this chain that were kept elsewhere. Reads each record once, in flat memory.
    """
    walk = ChainWalk(outside)
    broken = walk.start(start)
    if broken:
        return broken
    rest = iter(records)
    for record in rest:
        broken = _of_another_chain(record, head=walk.head(start.chain)) if record.chain != start.chain else None
        broken = broken or walk.advance(record)
        if broken:
            return explained(broken, rest=rest)
    return walk.unreached() or walk.head(start.chain)


def explained(found: Break, *, rest: Iterable[Record | Veiled]) -> Break:
    """The same break, with how a record that is not in its place went away: moved, deleted, or cut off with the end."""
    if found.what not in (Damage.MISSING, Damage.TRUNCATED):
        return found
    what = found.what
    for record in rest:
        if record.chain != found.chain:
            continue
        if record.sequence == found.sequence:
            sentence = f"{_place(found.chain, sequence=found.sequence)} stands later than its place"
            return replace(found, what=Damage.REORDERED, sentence=sentence)
        what = Damage.MISSING
    return replace(found, what=what)


def is_head(head: Head) -> bool:
    """Whether the fields have the form of a head, whatever they were read from."""
    return _is_place(head.chain, sequence=head.sequence) and is_hash(head.hash)


def is_hash(text: object) -> bool:
    """Whether this is a hash as it is written here: 64 lower-case hexadecimal digits."""
    return isinstance(text, str) and _hash_form(text) is not None


class ChainWalk:
    """Where every chain stands while records, of one chain or of many in any interleaving, are read in order."""

    def __init__(self, outside: Iterable[Head] = ()) -> None:
        self._tails: dict[str, tuple[int, bytes, bytes]] = {}
        self._outside: dict[tuple[str, int], set[str]] = {}
        for head in outside:
            self._outside.setdefault((head.chain, head.sequence), set()).add(head.hash)

    def start(self, head: Head) -> Break | None:
        """Begins a chain at a head that is trusted."""
        if not is_head(head):
            return Break(Damage.MALFORMED, "a chain's start is not a head", None, 0)
        digest = bytes.fromhex(head.hash)
        self._tails[head.chain] = (head.sequence, digest, digest)
        for chain, sequence in self._outside:
            if chain == head.chain and sequence < head.sequence:
                sentence = f"{_place(chain, sequence=sequence)}, held outside, is older than what is shown"
                return Break(Damage.MISSING, sentence, chain, sequence)
        return self._against_outside(head.chain, sequence=head.sequence, found=head.hash)

    def advance(self, record: Record | Veiled) -> Break | None:
        """Takes the next record of its chain; a break leaves the walk where it was."""
        if not _is_record(record):
            return Break(Damage.MALFORMED, "a record's fields do not have the form of a record", None, 0)
        chain = record.chain
        if chain not in self._tails:
            broken = self.start(genesis(chain))
            if broken:
                return broken
        sequence, digest, before = self._tails[chain]
        if record.sequence != sequence + 1:
            return _misplaced(record, after=sequence)
        body_digest = record.body_digest
        new = _join(digest, body_digest=body_digest)
        if new.hex() != record.hash:
            return _unlinked(record, beside=_join(before, body_digest=body_digest))
        self._tails[chain] = (sequence + 1, new, digest)
        return self._against_outside(chain, sequence=sequence + 1, found=record.hash) if self._outside else None

    def follow(self, records: Sequence[Record | Veiled]) -> int:
        """Takes as many of these, from the first on, as follow one on the other in a chain that is known: how many.

        It says of none what is wrong with it; `advance` does. Most of a log is read here, so nothing is called twice.
        """
        chain = records[0].chain if records else None
        if chain not in self._tails:
            return 0
        count, (sequence, digest, before) = 0, self._tails[chain]
        held = frozenset([each for name, each in self._outside if name == chain])
        for record in records:
            sequence += 1
            if type(record) is not Record or type(record.body) is not bytes or record.chain != chain:
                break
            if type(record.sequence) is not int or record.sequence != sequence or sequence in held:
                break
            new = sha256(_RECORD + digest + sha256(record.body).digest()).digest()
            if new.hex() != record.hash:
                break
            digest, before, count = new, digest, count + 1
        if count:
            self._tails[chain] = (records[count - 1].sequence, digest, before)
        return count

    def pass_over(self, stretch: Stretch) -> bool:
        """Stands where records end that were proved elsewhere; False: they do not begin where their chain stands."""
        chain, end = stretch.start.chain, stretch.end
        if stretch.start != self.head(chain):
            return False
        if chain not in self._tails and self.start(stretch.start) is not None:
            del self._tails[chain]
            return False
        self._tails[chain] = (end.sequence, bytes.fromhex(end.hash), bytes.fromhex(stretch.before))
        return True

    def stretch(self, start: Head) -> Stretch:
        """What was read of a chain since it stood at `start`."""
        sequence, digest, before = self._tails[start.chain]
        return Stretch(start, Head(start.chain, sequence, digest.hex()), before.hex())

    @property
    def anchored(self) -> bool:
        """Whether any head held outside was given."""
        return bool(self._outside)

    def head(self, chain: str) -> Head:
        """Where one chain stands; a chain of which nothing was read stands at its start."""
        if chain not in self._tails:
            return genesis(chain)
        sequence, digest, _ = self._tails[chain]
        return Head(chain, sequence, digest.hex())

    def heads(self) -> tuple[Head, ...]:
        return tuple(self.head(chain) for chain in sorted(self._tails))

    def unreached(self) -> Break | None:
        """The first head held outside that the records never came to."""
        for chain, sequence in sorted(self._outside):
            end = self.head(chain).sequence
            if sequence > end:
                sentence = f"{_place(chain, sequence=end + 1)} is cut off: a head held outside knows {sequence} records"
                return Break(Damage.TRUNCATED, sentence, chain, end + 1)
        return None

    def _against_outside(self, chain: str, *, sequence: int, found: str) -> Break | None:
        held = self._outside.get((chain, sequence))
        if held is None or held == {found}:
            return None
        sentence = f"{_place(chain, sequence=sequence)} is not the one that a head held outside knows"
        return Break(Damage.REWRITTEN, sentence, chain, sequence)


def _join(previous: bytes, *, body_digest: bytes) -> bytes:
    return sha256(_RECORD + previous + body_digest).digest()


def _is_record(record: Record | Veiled) -> bool:
    content: object = record.body if type(record) is Record else record.body_digest
    chain, sequence = record.chain, record.sequence
    if type(content) is bytes and type(chain) is str and type(sequence) is int and sequence >= 0:
        return True  # as all are but those that somebody made up
    return isinstance(content, bytes) and _is_place(chain, sequence=sequence)


def _is_place(chain: object, *, sequence: object) -> bool:
    """`type() is int`, because True would pass for 1."""
    return isinstance(chain, str) and type(sequence) is int and sequence >= 0


def _of_another_chain(record: Record | Veiled, *, head: Head) -> Break:
    sentence = f"the record in the place of {_place(head.chain, sequence=head.sequence + 1)} names another chain"
    return Break(Damage.EDITED, sentence, head.chain, head.sequence + 1)


def _misplaced(record: Record | Veiled, *, after: int) -> Break:
    if record.sequence > after:
        sentence = f"{_place(record.chain, sequence=after + 1)} is not there: {record.sequence} follows {after}"
        return Break(Damage.MISSING, sentence, record.chain, after + 1)
    sentence = f"{_place(record.chain, sequence=record.sequence)} comes again after {after}"
    return Break(Damage.FORKED, sentence, record.chain, record.sequence)


def _unlinked(record: Record | Veiled, *, beside: bytes) -> Break:
    place = _place(record.chain, sequence=record.sequence)
    if beside.hex() == record.hash:
        sentence = f"{place} does not follow the record before it but stands beside it: two writers shared the chain"
        return Break(Damage.FORKED, sentence, record.chain, record.sequence)
    sentence = f"{place} does not have its hash: it, or the hash, was changed after it was written"
    return Break(Damage.EDITED, sentence, record.chain, record.sequence)


def _place(chain: str | None, *, sequence: int) -> str:
    name = ascii(chain)
    return f"record {sequence} of chain {name if len(name) <= 80 else name[:77] + '...'}"
