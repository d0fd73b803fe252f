"""Reduces a list of leaves to one hash, with short proofs that a leaf is in it.

The tree of RFC 6962 (section 2.1): a leaf's hash is SHA-256(0x00 || leaf), a node's SHA-256(0x01 || left || right), so
a node can never be passed off as a leaf; a node without a neighbour rises as it is.
"""

from collections.abc import Sequence
from hashlib import sha256


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    level = [_leaf(leaf) for leaf in leaves]
    if not level:
        return sha256(b"").digest()
    while len(level) > 1:
        level = _risen(level)
    return level[0]


def inclusion_proof(leaves: Sequence[bytes], *, index: int) -> tuple[bytes, ...]:
    """The neighbours on the way from the leaf at `index` to the root, lowest first."""
    if not 0 <= index < len(leaves):
        raise IndexError("no leaf has this index")
    level = [_leaf(leaf) for leaf in leaves]
    proof = []
    while len(level) > 1:
        neighbour = index ^ 1
        if neighbour < len(level):
            proof.append(level[neighbour])
        level = _risen(level)
        index //= 2
    return tuple(proof)


def verify_inclusion(leaf: bytes, *, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether the proof shows that `leaf` is number `index` of the `size` leaves under `root` (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    found, last = _leaf(leaf), size - 1
    for neighbour in proof:
        if last == 0:
            return False
        if index & 1:
            found = _node(neighbour + found)
        elif index < last:
            found = _node(found + neighbour)
        else:
            index, last = _climbed(index, last=last)
            found = _node(neighbour + found)
        index, last = index >> 1, last >> 1
    return last == 0 and found == root


def _climbed(index: int, *, last: int) -> tuple[int, int]:
    """Passes the levels at which the last node has no neighbour."""
    while index & 1 == 0 and index:
        index, last = index >> 1, last >> 1
    return index, last


def _risen(level: list[bytes]) -> list[bytes]:
    above = [_node(left + right) for left, right in zip(level[::2], level[1::2], strict=False)]
    if len(level) % 2:
        above.append(level[-1])
    return above


def _leaf(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def _node(children: bytes) -> bytes:
    return sha256(b"\x01" + children).digest()
