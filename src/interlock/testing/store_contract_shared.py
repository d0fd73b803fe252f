"""What the parts of a store's contract share: the store as one type, and how its chains are verified."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

from typing import Protocol

import pytest

from interlock.core.chain import Head, genesis, verify_chain
from interlock.core.journal import AuditQuery
from interlock.ports import Approvals, Audit, Calls, CatalogueStore, Claim, Intent, Ledger, Recovery
from interlock.testing.store_values import Values


class Store(Calls, Approvals, Recovery, CatalogueStore, Audit, Ledger, Protocol):
    """One object that provides all of the ports of a store."""

    async def close(self) -> None:
        """Let go of everything."""

    async def purge(self, before_us: int, *, windows_before_us: int | None = None) -> None:
        """Forget what was kept whole before then."""


@pytest.mark.anyio
class ContractTests:
    """The fixtures that each part of the contract uses; whoever provides a store adds `store` and `after_crash`."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """Stores are written for asyncio."""
        return "asyncio"

    @pytest.fixture
    def values(self) -> Values:
        """New values."""
        return Values()

    async def after_crash(self, store: Store) -> Store:
        """The same data as the next process finds it, after the process that used `store` died."""
        raise NotImplementedError(f"{type(self).__name__} does not say how {store} is found after a crash")


async def claimed(store: Store, *, intent: Intent) -> Claim:
    """The claim, which has to succeed."""
    claim = await store.claim(intent)
    assert isinstance(claim, Claim), claim
    return claim


async def verified(store: Store) -> tuple[Head, ...]:
    """The heads of all chains, after each has been verified from its start."""
    records = [each.record for each in await store.records(AuditQuery(limit=1_000_000))]
    heads = await store.heads()
    for head in heads:
        own = [record for record in records if record.chain == head.chain]
        assert verify_chain(own, start=genesis(head.chain), outside=(head,)) == head
    assert {record.chain for record in records} == {head.chain for head in heads}
    return heads
