"""The part of a store's contract about audit: chains without gaps, checkpoints, queries, retention."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from interlock.core.chain import Head
from interlock.core.checkpoint import BEGINNING, Checkpoint, Mark, draw_up, signed
from interlock.core.errors import StoreError
from interlock.core.journal import RECORD, AuditQuery, EventKind
from interlock.testing.store_contract_shared import ContractTests, Store, claimed, verified
from interlock.testing.store_values import DAY_US, NOW_US, TENANT, Values


def draw(heads: tuple[Head, ...], mark: Mark) -> Checkpoint:  # the port's own order
    """A checkpoint that is signed with nothing."""
    return signed(draw_up(heads, after=mark, time_us=NOW_US, key_fingerprint="f"), signature=b"signature")


class AuditContract(ContractTests):
    """The chains."""

    async def test_parallel_records_make_chains_without_gaps(self, *, store: Store, values: Values) -> None:
        await asyncio.gather(*[store.append(values.event()) for _ in range(100)])
        await asyncio.gather(*[store.record(values.entry()) for _ in range(100)])
        assert sum(head.sequence for head in await verified(store)) == 200

    async def test_a_receipt_is_the_head_at_its_record(self, *, store: Store, values: Values) -> None:
        first = await store.append(values.event())
        second = await store.append(values.event())
        assert await store.heads() == (second,)
        records = await store.records(AuditQuery())
        assert [each.record.head for each in records] == [first, second]

    async def test_an_empty_store_has_no_chain(self, *, store: Store) -> None:
        assert await store.heads() == ()
        assert await store.records(AuditQuery()) == ()

    async def test_a_record_comes_back_with_its_payloads(self, *, store: Store, values: Values) -> None:
        event = values.event(EventKind.POLICY_SAVED, subject="base")
        receipt = await store.append(event)
        (found,) = await store.records(AuditQuery())
        assert found.record.body == event.body(receipt.chain, receipt.sequence)
        assert (found.tenant, found.kind, found.at_us) == (event.tenant, event.kind.value, event.at_us)
        assert (found.call, found.subject, found.payloads) == (event.call, event.subject, event.payloads)

    async def test_a_query_finds_what_matches_every_field(self, *, store: Store, values: Values) -> None:
        wanted = values.event(EventKind.REVEALED, subject="s")
        others = (
            values.event(EventKind.REVEALED),
            values.event(subject="s"),
            Values("globex").event(EventKind.REVEALED),
        )
        for event in (wanted, *others):
            await store.append(event)
        for query in (
            AuditQuery(TENANT, "secret.revealed", wanted.call, "s"),
            AuditQuery(call=wanted.call, tenant=TENANT),
            AuditQuery(subject="s", kind="secret.revealed"),
            AuditQuery(tenant="globex"),
        ):
            assert len(await store.records(query)) == 1, query
        late = await store.records(AuditQuery(since_us=others[1].at_us))
        assert [each.subject for each in late] == ["s"]

    async def test_pages_follow_each_other(self, *, store: Store, values: Values) -> None:
        receipts = [await store.append(values.event()) for _ in range(5)]
        found: list[Head] = []
        after: tuple[str, int] | None = None
        while page := await store.records(AuditQuery(after=after, limit=2)):
            found += [each.record.head for each in page]
            after = (found[-1].chain, found[-1].sequence)
        assert found == receipts
        assert await store.records(AuditQuery(after=("", 0), limit=9)) != ()

    async def test_checkpoints_follow_each_other_over_the_heads_of_their_moment(
        self, *, store: Store, values: Values
    ) -> None:
        receipt = await store.append(values.event())
        first = await store.checkpoint(draw)
        await asyncio.gather(store.append(values.event()), store.checkpoint(draw))
        assert (first.number, first.previous, first.heads) == (1, BEGINNING.hash, (receipt,))
        _, second = await store.checkpoints()
        assert (second.number, second.previous) == (2, first.mark.hash)
        assert await store.checkpoints() == (first, second)

    async def test_a_checkpoint_that_cannot_be_drawn_harms_nothing(self, *, store: Store, values: Values) -> None:
        def fail(heads: tuple[Head, ...], mark: Mark) -> Checkpoint:
            raise StoreError("no signer")

        drawing = store.checkpoint(fail)
        _, outcome = await asyncio.gather(store.append(values.event()), drawing, return_exceptions=True)
        assert isinstance(outcome, StoreError)
        assert await store.checkpoints() == ()
        await verified(store)

    @pytest.mark.parametrize("is_open", [False, True])
    async def test_retention_forgets_what_was_kept_whole_and_the_chain_still_holds(
        self, *, store: Store, values: Values, is_open: bool
    ) -> None:
        intent = values.intent("k")
        claim = await claimed(store, intent=intent)
        if not is_open:
            await store.settle(values.settlement(claim))
        await store.purge(NOW_US + 2 * DAY_US)
        await verified(store)
        names = {payload.name for each in await store.records(AuditQuery()) for payload in each.payloads}
        assert names == ({RECORD, "result"} if is_open else {RECORD})
        found = await store.find(TENANT, claim.operation_id)
        assert found is not None
        assert found.operation == (intent.operation if is_open else replace(intent.operation, sealed=b""))

    async def test_retention_keeps_the_answer_of_a_key_that_still_answers(
        self, *, store: Store, values: Values
    ) -> None:
        await store.settle(values.settlement(await claimed(store, intent=values.intent("k"))))
        await store.purge(NOW_US + DAY_US - 1)
        prior = (await store.look(values.look("k"))).prior
        assert prior is not None
        assert prior.observation is not None
