"""A checkpoint says in a few signed lines where all chains stood."""

from dataclasses import replace

import pytest

from interlock.core.chain import Head, genesis
from interlock.core.checkpoint import (
    BEGINNING,
    Checkpoint,
    Span,
    draw_up,
    heads_root,
    is_proven,
    prove_head,
    signed,
    spans,
)

HEADS = tuple(Head(chain, 3, genesis(chain).hash) for chain in ("a", "b", "c d", "e", "f"))
FIRST = draw_up(HEADS, after=BEGINNING, time_us=12, key_fingerprint="f" * 64)


def test_the_signed_statement_can_be_read_by_a_person() -> None:
    assert FIRST.statement.decode().splitlines() == [
        "interlock/1 checkpoint",
        "number 1",
        "time_us 12",
        "previous " + "0" * 64,
        "chains 5",
        f"root {heads_root(HEADS)}",
        "key " + "f" * 64,
    ]


def test_the_order_in_which_heads_are_handed_in_does_not_matter() -> None:
    assert draw_up(HEADS[::-1], after=BEGINNING, time_us=12, key_fingerprint="f" * 64) == FIRST


def test_the_next_checkpoint_carries_the_hash_of_this_one() -> None:
    second = draw_up(HEADS, after=FIRST.mark, time_us=13, key_fingerprint="f" * 64)
    assert (second.number, second.previous) == (2, FIRST.mark.hash)


@pytest.mark.parametrize(
    "other",
    [
        replace(FIRST, number=2),
        replace(FIRST, time_us=13),
        replace(FIRST, root="0" * 64),
        replace(FIRST, previous="1" * 64),
        replace(FIRST, key_fingerprint="e" * 64),
        replace(FIRST, heads=HEADS[:-1]),
    ],
)
def test_whatever_a_checkpoint_says_its_mark_covers(other: Checkpoint) -> None:
    assert other.mark.hash != FIRST.mark.hash


def test_a_signature_changes_nothing_of_what_was_signed() -> None:
    assert signed(FIRST, signature=b"s") == replace(FIRST, signature=b"s")
    assert signed(FIRST, signature=b"s").mark == FIRST.mark


@pytest.mark.parametrize(
    "heads",
    [HEADS[:-1], (*HEADS[:-1], replace(HEADS[-1], sequence=4)), (replace(HEADS[0], chain="0"), *HEADS[1:])],
)
def test_another_set_of_heads_has_another_root(heads: tuple[Head, ...]) -> None:
    assert heads_root(heads) != FIRST.root


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("head", HEADS)
def test_a_head_is_proven_without_the_other_heads(head: Head) -> None:
    found = prove_head(FIRST, chain=head.chain)
    assert found is not None
    index, proof = found
    assert is_proven(head, index=index, size=5, proof=proof, root=FIRST.root)
    assert not is_proven(replace(head, sequence=2), index=index, size=5, proof=proof, root=FIRST.root)
    assert not is_proven(head, index=index, size=5, proof=proof, root="no root")


def test_the_spans_between_checkpoints_are_what_moved_since() -> None:
    moved = (replace(HEADS[1], sequence=5), HEADS[2], Head("new", 2, "0" * 64), Head("none", 0, "0" * 64))
    second = draw_up((HEADS[0], *moved), after=FIRST.mark, time_us=13, key_fingerprint="f" * 64)
    assert spans(second, after=FIRST) == (Span("b", 3, 5), Span("new", 0, 2))
    assert spans(FIRST, after=None) == tuple(Span(head.chain, 0, 3) for head in HEADS)


def test_a_chain_that_the_checkpoint_does_not_know_has_no_proof() -> None:
    assert prove_head(FIRST, chain="unknown") is None
