"""The keys of one installation: one signs the audit log, one keys the digests that leave the sealed store."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from interlock.core.errors import SettingsInvalid

KEY_BYTES = 32


class KeySigner:
    """Signs with a private key that this process holds. The signing library is loaded at the first use."""

    def __init__(self, private: bytes) -> None:
        self._private = private

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature."""
        from interlock.core.signing import sign

        return sign(message, private_key=self._private)

    def public_key(self) -> bytes:
        """The raw 32 bytes."""
        return self._public

    @cached_property
    def _public(self) -> bytes:
        from interlock.core.signing import public_key

        return public_key(self._private)


@dataclass(frozen=True, slots=True)
class Keys:
    """Two secrets of 32 bytes: `signing` (a raw Ed25519 private key) and `master`, from which tenants' keys derive."""

    signing: bytes = field(repr=False)
    master: bytes = field(repr=False)

    @staticmethod
    def random() -> Keys:
        """New keys, for a store that lives in memory."""
        return Keys(os.urandom(KEY_BYTES), os.urandom(KEY_BYTES))


def key_file(path: Path) -> Keys:
    """The keys in this file, made on first use and readable by the owner only. Raises `SettingsInvalid`.

    Whoever has this file can sign a log that was never written: keep a copy of the fingerprint elsewhere.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(path)
    except OSError as fault:
        raise SettingsInvalid(f"the key file {path} cannot be made: {fault.strerror}") from fault
    keys = Keys.random()
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{keys.signing.hex()}\n{keys.master.hex()}\n")
        file.flush()
        os.fsync(file.fileno())
    return keys


def _read(path: Path) -> Keys:
    try:
        signing, master = (bytes.fromhex(line) for line in path.read_text(encoding="ascii").split())
    except (OSError, ValueError) as fault:
        raise SettingsInvalid(
            f"the key file {path} cannot be read; restore it, or move it away with its store"
        ) from fault
    if len(signing) != KEY_BYTES or len(master) != KEY_BYTES:
        raise SettingsInvalid(f"the key file {path} does not hold two keys of {KEY_BYTES} bytes")
    return Keys(signing, master)
