"""Tests of what binds sealed bytes to their row."""

import pytest

from interlock.core.errors import StoreError
from interlock.store import seal
from interlock.store.seal_aes import AesSeal
from interlock.system import SystemEntropy

CONTEXTS = {
    seal.of_call("acme", "7"): b"call\x00acme\x007",
    seal.of_approval("acme", "7"): b"approval\x00acme\x007",
    seal.of_waiting("acme", "7"): b"operation\x00acme\x007",
    seal.of_closing("acme", "7"): b"closing\x00acme\x007",
    seal.of_plan("acme", "7"): b"compensation\x00acme\x007",
    seal.of_part("acme", "7", 0): b"artifact\x00acme\x007\x000",
    seal.of_artifact("acme", "7"): b"artifact\x00acme\x007\x00-1",
    seal.of_run_entry("acme", "7", 3): b"run\x00acme\x007\x003",
    seal.of_document("acme", "agent", "7", revision=3): b"document\x00acme\x00agent\x007\x003",
    seal.of_record(7): b"audit\x007",
}
"""As they are in stores that were written already."""


def test_what_was_sealed_before_opens_under_the_same_context() -> None:
    assert list(CONTEXTS) == list(CONTEXTS.values())


def test_what_was_sealed_for_one_row_opens_for_no_other() -> None:
    aes = AesSeal(bytes(32), random=SystemEntropy().bytes)
    sealed = {context: aes.seal(b"secret", context=context) for context in CONTEXTS}
    assert len(sealed) == 10
    for context in CONTEXTS:
        for other in CONTEXTS.keys() - {context}:
            with pytest.raises(StoreError):
                aes.open(sealed[context], context=other)
