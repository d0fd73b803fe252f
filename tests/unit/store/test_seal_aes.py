"""Sealed bytes open for the row and the key that they were sealed for, and for no other."""

from secrets import token_bytes

import pytest

from interlock.core.errors import SettingsInvalid, StoreError
from interlock.store.seal_aes import AesSeal

SEAL = AesSeal(bytes(32), random=token_bytes)


@pytest.mark.parametrize("data", [b"", b"x", b"W\x00s", bytes(100_000)])
def test_what_was_sealed_opens(data: bytes) -> None:
    sealed = SEAL.seal(data, context=b"row 1")
    assert sealed != SEAL.seal(data, context=b"row 1")
    assert SEAL.open(sealed, context=b"row 1") == data


def test_another_row_another_key_or_another_byte_does_not_open() -> None:
    sealed = SEAL.seal(b"secret", context=b"row 1")
    assert b"secret" not in sealed
    wrong = [(SEAL, sealed, b"row 2"), (AesSeal(bytes([1] * 32), random=token_bytes), sealed, b"row 1")]
    wrong += [(SEAL, sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :], b"row 1") for at in range(len(sealed))]
    wrong += [(SEAL, sealed[:length], b"row 1") for length in range(len(sealed))]
    for seal, data, context in wrong:
        with pytest.raises(StoreError):
            seal.open(data, context=context)


def test_a_key_of_another_length_is_refused_with_the_length_it_needs() -> None:
    with pytest.raises(SettingsInvalid, match="32 random bytes, not 16"):
        AesSeal(bytes(16), random=token_bytes)
