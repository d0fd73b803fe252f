"""The keys of one installation: one signs the audit log, one keys the digests that leave the sealed store."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from interlock.core.errors import KeyInvalid

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
    """The keys in this file, made on first use and readable by the owner only. Raises `KeyInvalid`.

    Whoever has this file can sign a log that was never written: keep a copy of the fingerprint elsewhere.
    """
    if path.exists():
        return read_key_file(path)
    keys = Keys.random()
    try:
        is_made = _write_new(path, f"{keys.signing.hex()}\n{keys.master.hex()}\n")
    except OSError as fault:
        raise KeyInvalid(f"the key file {path} cannot be made: {fault.strerror}") from fault
    return keys if is_made else read_key_file(path)


def read_key_file(path: Path) -> Keys:
    """The keys in a file that is there. Raises `KeyInvalid`, and makes nothing."""
    try:
        signing, master = (bytes.fromhex(line) for line in path.read_text(encoding="ascii").split())
    except FileNotFoundError:
        raise KeyInvalid(f"the key file {path} is missing; restore it") from None
    except OSError as fault:
        raise KeyInvalid(f"the key file {path} cannot be read: {fault.strerror}") from fault
    except ValueError as fault:
        raise KeyInvalid(f"the key file {path} is damaged; restore it, or move it away with its store") from fault
    if len(signing) != KEY_BYTES or len(master) != KEY_BYTES:
        raise KeyInvalid(f"the key file {path} does not hold two keys of {KEY_BYTES} bytes")
    return Keys(signing, master)


def _write_new(path: Path, text: str) -> bool:
    """Make the file whole or not at all; False where another process was faster, whose half-written file none reads."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True
