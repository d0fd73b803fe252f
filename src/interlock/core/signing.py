"""Makes and checks Ed25519 signatures.

The only module of core that imports `cryptography`, which costs more to import than the rest of core together: what
runs on every call must not import this one.
"""

from hashlib import sha256
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_BYTES: Final = 32


def fingerprint(public_key: bytes) -> str:
    """What a person compares and a configuration names: SHA-256 of the raw public key, in hex."""
    return sha256(public_key).hexdigest()


def public_key(private_key: bytes) -> bytes:
    """The raw public key of a raw 32-byte private key (ValueError for another length)."""
    return Ed25519PrivateKey.from_private_bytes(private_key).public_key().public_bytes_raw()


def sign(statement: bytes, *, private_key: bytes) -> bytes:
    """The signature by a key that this process holds; keys held elsewhere sign through the signer port."""
    return Ed25519PrivateKey.from_private_bytes(private_key).sign(statement)


def is_signed(statement: bytes, *, signature: bytes, public_key: bytes) -> bool:
    """Whether the signature over the statement was made by the key; False for whatever is no signature or no key."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, statement)
    except (InvalidSignature, ValueError):
        return False
    return True
