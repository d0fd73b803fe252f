"""States where all chains stood at one moment, in a form that a key signs.

Checkpoints form a chain of their own: each has a number and the hash of the one before it. What is signed is a short
text, so that anyone can check it with a key and a pen:

    interlock/1 checkpoint
    number 7
    time_us 1764460800000000
    previous <hash of checkpoint 6, zeros for the first>
    chains 8
    root <Merkle root over the heads of all chains, sorted by name>
    key <fingerprint>

A checkpoint shows that a chain was cut below it. That the last checkpoints went with what they covered shows only a
`Mark` held outside.
"""

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Final

from interlock.core.chain import Head, is_hash
from interlock.core.frozen import frozen
from interlock.core.merkle import inclusion_proof, merkle_root, verify_inclusion

NO_CHECKPOINT: Final = "0" * 64

_CHECKPOINT: Final = b"interlock/1/checkpoint\x00"


@frozen
class Mark:
    """A checkpoint's number and hash: small enough to be kept outside as the log's high-water mark."""

    number: int
    hash: str


BEGINNING: Final = Mark(0, NO_CHECKPOINT)


@frozen
class Checkpoint:
    """The heads of all chains, sorted by name, under one signature; `time_us` is in microseconds, UTC."""

    number: int
    time_us: int
    heads: tuple[Head, ...]
    root: str
    previous: str
    key_fingerprint: str
    signature: bytes = b""

    @property
    def statement(self) -> bytes:
        """The bytes that are signed."""
        lines = (
            "interlock/1 checkpoint",
            f"number {self.number}",
            f"time_us {self.time_us}",
            f"previous {self.previous}",
            f"chains {len(self.heads)}",
            f"root {self.root}",
            f"key {self.key_fingerprint}",
        )
        return "".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")

    @property
    def mark(self) -> Mark:
        return Mark(self.number, sha256(_CHECKPOINT + self.statement).hexdigest())


@frozen
class Span:
    """Records of one chain: those after the sequence `after`, up to and with `through`."""

    chain: str
    after: int
    through: int


def draw_up(heads: Iterable[Head], *, after: Mark, time_us: int, key_fingerprint: str) -> Checkpoint:
    """The checkpoint that follows `after` (`BEGINNING` for the first), not yet signed."""
    ordered = tuple(sorted(heads, key=lambda head: head.chain))
    return Checkpoint(after.number + 1, time_us, ordered, heads_root(ordered), after.hash, key_fingerprint)


def signed(checkpoint: Checkpoint, *, signature: bytes) -> Checkpoint:
    """The checkpoint with the signature that the signer made of its `statement`."""
    return replace(checkpoint, signature=signature)


def heads_root(heads: Iterable[Head]) -> str:
    return merkle_root([_leaf(head) for head in heads]).hex()


def spans(checkpoint: Checkpoint, *, after: Checkpoint | None) -> tuple[Span, ...]:
    """What to read between two checkpoints, so that a log comes in the order in which it can be proven."""
    start = {head.chain: head.sequence for head in after.heads} if after else {}
    every = (Span(head.chain, start.get(head.chain, 0), head.sequence) for head in checkpoint.heads)
    return tuple(span for span in every if span.through > span.after)


def prove_head(checkpoint: Checkpoint, *, chain: str) -> tuple[int, tuple[bytes, ...]] | None:
    """The chain's index in the checkpoint and the proof of its head, or None where the checkpoint does not know it."""
    index = next((index for index, head in enumerate(checkpoint.heads) if head.chain == chain), None)
    if index is None:
        return None
    return index, inclusion_proof([_leaf(head) for head in checkpoint.heads], index=index)


def is_proven(head: Head, *, index: int, size: int, proof: tuple[bytes, ...], root: str) -> bool:
    """Whether a checkpoint with this root over `size` chains covers the head, without the other heads at hand."""
    if not is_hash(root):
        return False
    return verify_inclusion(_leaf(head), index=index, size=size, proof=proof, root=bytes.fromhex(root))


def _leaf(head: Head) -> bytes:
    """The name comes last: it alone may hold a space."""
    return f"{head.hash} {head.sequence} {head.chain}".encode("utf-8", "surrogatepass")
