"""The tree is that of RFC 6962, and its proofs prove one leaf at one place only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.merkle import inclusion_proof, merkle_root, verify_inclusion

# The leaves and roots that certificate transparency's own implementations are tested with.
LEAVES = [
    bytes.fromhex(leaf)
    for leaf in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)

LEAF_LISTS = st.lists(st.binary(max_size=4), min_size=1, max_size=40, unique=True)


@pytest.mark.parametrize("size", range(9))
def test_the_roots_are_those_of_certificate_transparency(size: int) -> None:
    assert merkle_root(LEAVES[:size]).hex() == ROOTS[size]


@given(LEAF_LISTS, st.data())
def test_a_proof_shows_its_leaf_at_its_place_and_no_other(leaves: list[bytes], data: st.DataObject) -> None:
    index, claimed = (data.draw(st.integers(0, len(leaves) - 1)) for _ in range(2))
    proof = inclusion_proof(leaves, index=index)
    shown = verify_inclusion(leaves[index], index=claimed, size=len(leaves), proof=proof, root=merkle_root(leaves))
    assert shown == (claimed == index)


@given(LEAF_LISTS, st.binary(max_size=4), st.data())
def test_a_leaf_that_is_not_there_has_no_proof(leaves: list[bytes], stranger: bytes, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    proof, root = inclusion_proof(leaves, index=index), merkle_root(leaves)
    shown = verify_inclusion(stranger, index=index, size=len(leaves), proof=proof, root=root)
    assert shown == (stranger == leaves[index])


@given(LEAF_LISTS, st.data())
def test_a_proof_with_a_neighbour_more_less_or_changed_shows_nothing(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    proof, root = inclusion_proof(leaves, index=index), merkle_root(leaves)
    for other in [(*proof, bytes(32)), *_damaged(proof)]:
        assert not verify_inclusion(leaves[index], index=index, size=len(leaves), proof=other, root=root)


def test_a_node_cannot_be_passed_off_as_a_leaf() -> None:
    pair = b"".join(inclusion_proof(LEAVES[:2], index=1) + inclusion_proof(LEAVES[:2], index=0))
    assert not verify_inclusion(pair, index=0, size=1, proof=(), root=merkle_root(LEAVES[:2]))


@pytest.mark.parametrize(("index", "size"), [(-1, 2), (2, 2), (0, 0), (0, -1)])
def test_an_index_outside_the_tree_shows_nothing(index: int, size: int) -> None:
    root = merkle_root(LEAVES[:2])
    assert not verify_inclusion(
        LEAVES[0], index=index, size=size, proof=inclusion_proof(LEAVES[:2], index=0), root=root
    )
    with pytest.raises(IndexError):
        inclusion_proof(LEAVES[: max(size, 0)], index=index)


def _damaged(proof: tuple[bytes, ...]) -> list[tuple[bytes, ...]]:
    cut = [proof[:-1]] if proof else []
    return cut + [(*proof[:at], bytes(32), *proof[at + 1 :]) for at in range(len(proof))]
