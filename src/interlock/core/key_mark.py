"""Tells whether the keys at hand are those that a store was written with, without giving any of them away."""

from __future__ import annotations

from hashlib import blake2b

from interlock.core.frozen import frozen


@frozen
class KeyMark:
    """What a store remembers of its keys: the fingerprint of the one that signs, and a keyed check of the other."""

    fingerprint: str
    check: str


def key_mark(fingerprint: str, *, master: bytes) -> KeyMark:
    """The mark of a signing key, by its fingerprint, and a master key of 32 bytes."""
    return KeyMark(fingerprint, blake2b(key=master, digest_size=32, person=b"il-check").hexdigest())
