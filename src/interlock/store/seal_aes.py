"""Seals with AES-256-GCM under one key.

Every seal draws a nonce of 96 random bits, so one key is good for 2^32 seals (NIST SP 800-38D, 8.3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from interlock.core.errors import SettingsInvalid, StoreError

KEY_BYTES: Final = 32

_FORM: Final = b"\x01"
_NONCE_BYTES: Final = 12


class AesSeal:
    """`random(count)` gives unguessable bytes."""

    def __init__(self, key: bytes, *, random: Callable[[int], bytes]) -> None:
        if len(key) != KEY_BYTES:
            raise SettingsInvalid(f"the key that seals the store holds {KEY_BYTES} random bytes, not {len(key)}")
        self._cipher = AESGCM(key)
        self._random = random

    def seal(self, data: bytes, *, context: bytes) -> bytes:
        """A byte for the form, the nonce, the encrypted bytes with their tag."""
        nonce = self._random(_NONCE_BYTES)
        return _FORM + nonce + self._cipher.encrypt(nonce, data, context)

    def open(self, sealed: bytes, *, context: bytes) -> bytes:
        """The bytes that were sealed."""
        start = len(_FORM) + _NONCE_BYTES
        if not sealed.startswith(_FORM) or len(sealed) < start:
            raise StoreError("the store holds bytes that were never sealed, or sealed by a newer Interlock")
        try:
            return self._cipher.decrypt(sealed[len(_FORM) : start], sealed[start:], context)
        except InvalidTag as wrong:
            raise StoreError("sealed bytes do not open: they were changed, or the key is another") from wrong
