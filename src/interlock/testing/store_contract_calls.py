"""The part of a store's contract about calls: keys, settlements, epochs, runs, and bytes that stay what they are."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from interlock.core.effect import CallEvent, CallState
from interlock.core.labels import NO_LABELS, Confidentiality, Labels, Trust
from interlock.ports import Claim, Look, NotClaimed
from interlock.testing.store_contract_shared import ContractTests, Store, claimed, verified
from interlock.testing.store_values import DAY_US, NOW_US, RUN, TENANT, Values

NASTY = (
    b"",
    b"W\x00s\x00l\x00",
    "\N{SNOWMAN}\N{GRINNING FACE}\N{ZERO WIDTH SPACE}\N{RIGHT-TO-LEFT OVERRIDE}".encode(),
    b'{"n":%d,"m":%d}' % (2**63, 10**30),
    b"'; DROP TABLE calls; --",
    bytes(range(256)),
    b"x" * 1_000_000,
)
SECRET = Labels(Confidentiality.RESTRICTED, Trust.UNTRUSTED, frozenset({"mail"}))


class CallContract(ContractTests):
    """Calls, from look to settle."""

    # --- keys ---------------------------------------------------------------------------------------------------------

    async def test_of_many_claims_of_one_key_one_wins(self, *, store: Store, values: Values) -> None:
        answers = await asyncio.gather(*[store.claim(values.intent("k")) for _ in range(50)])
        assert sum(isinstance(answer, Claim) for answer in answers) == 1
        assert answers.count(NotClaimed.KEY) == 49
        await verified(store)

    async def test_a_finished_call_keeps_its_key_and_is_seen_with_its_observation(
        self, *, store: Store, values: Values
    ) -> None:
        intent = values.intent("k")
        settlement = values.settlement(await claimed(store, intent=intent), labels=SECRET)
        await store.settle(settlement)
        assert await store.claim(values.intent("k")) is NotClaimed.KEY
        prior = (await store.look(values.look("k"))).prior
        assert prior is not None
        assert (prior.operation_id, prior.tool, prior.model_digest) == (intent.operation.id, "save", "e" * 64)
        assert (prior.state, prior.observation, prior.at_us) == (
            CallState.SUCCEEDED,
            settlement.observation,
            settlement.at_us,
        )
        assert prior.labels == SECRET

    async def test_a_running_call_is_seen_without_an_observation(self, *, store: Store, values: Values) -> None:
        await claimed(store, intent=values.intent("k"))
        prior = (await store.look(values.look("k"))).prior
        assert prior is not None
        assert (prior.state, prior.observation, prior.at_us) == (CallState.CLAIMED, None, NOW_US)

    async def test_a_look_that_may_guess_finds_the_prior_call_or_says_that_it_guessed(
        self, *, store: Store, values: Values
    ) -> None:
        await claimed(store, intent=values.intent("k"))
        sure = await store.look(values.look("k"))
        hasty = await store.look(replace(values.look("k"), may_guess=True))
        assert not sure.guessed
        assert hasty == (replace(sure, prior=None, guessed=True) if hasty.guessed else sure)
        assert await store.claim(values.intent("k")) is NotClaimed.KEY

    async def test_proof_that_nothing_happened_frees_the_key(self, *, store: Store, values: Values) -> None:
        claim = await claimed(store, intent=values.intent("k"))
        await store.settle(values.settlement(claim, CallEvent.PROVE_NOTHING_HAPPENED))
        assert (await store.look(values.look("k"))).prior is None
        await claimed(store, intent=values.intent("k"))

    async def test_the_end_of_its_lifetime_frees_the_key_of_a_finished_call(
        self, *, store: Store, values: Values
    ) -> None:
        await store.settle(values.settlement(await claimed(store, intent=values.intent("k"))))
        before, after = NOW_US + DAY_US - 1, NOW_US + DAY_US
        assert await store.claim(replace(values.intent("k"), at_us=before)) is NotClaimed.KEY
        assert (await store.look(values.look("k", at_us=before))).prior is not None
        assert (await store.look(values.look("k", at_us=after))).prior is None
        second = replace(values.intent("k"), at_us=after)
        await claimed(store, intent=second)
        prior = (await store.look(values.look("k", at_us=after))).prior
        assert prior is not None
        assert prior.operation_id == second.operation.id

    @pytest.mark.parametrize("ends", [None, CallEvent.LOSE_OUTCOME])
    async def test_a_call_that_may_have_happened_keeps_its_key_however_old_it_is(
        self, *, store: Store, values: Values, ends: CallEvent | None
    ) -> None:
        claim = await claimed(store, intent=values.intent("k"))
        if ends is not None:
            await store.settle(values.settlement(claim, ends))
        late = NOW_US + 1_000 * DAY_US
        assert await store.claim(replace(values.intent("k"), at_us=late)) is NotClaimed.KEY
        assert (await store.look(values.look("k", at_us=late))).prior is not None

    async def test_the_same_key_of_another_tenant_is_another_key(self, *, store: Store, values: Values) -> None:
        await claimed(store, intent=values.intent("k"))
        other = Values("globex")
        await claimed(store, intent=other.intent("k"))
        assert (await store.look(Look("initech", "k", None, ()))).prior is None

    async def test_a_call_without_a_key_is_in_nobodys_way(self, *, store: Store, values: Values) -> None:
        await claimed(store, intent=values.intent())
        await claimed(store, intent=values.intent())

    async def test_an_operation_is_claimed_once(self, *, store: Store, values: Values) -> None:
        intent = values.intent()
        await claimed(store, intent=intent)
        assert await store.claim(intent) is NotClaimed.KEY

    async def test_a_call_of_unknown_outcome_is_continued_under_a_new_fence(
        self, *, store: Store, values: Values
    ) -> None:
        first = await claimed(store, intent=values.intent("k"))
        await store.settle(values.settlement(first, CallEvent.LOSE_OUTCOME))
        again = replace(values.intent("k"), continues=first.operation_id)
        answers = await asyncio.gather(store.claim(again), store.claim(again))
        second = next(answer for answer in answers if isinstance(answer, Claim))
        assert NotClaimed.KEY in answers
        assert (second.operation_id, second.fence) == (first.operation_id, first.fence + 1)
        assert await store.settle(values.settlement(first)) is None
        assert await store.settle(values.settlement(second)) is not None

    async def test_a_call_that_was_done_in_part_goes_on_until_it_is_done(self, *, store: Store, values: Values) -> None:
        first = await claimed(store, intent=values.intent("k"))
        await store.settle(values.settlement(first, CallEvent.SUCCEED_PARTLY))
        done = await store.find(TENANT, first.operation_id)
        again = replace(values.intent("k"), continues=first.operation_id)
        second = await claimed(store, intent=again)
        assert (second.operation_id, second.fence) == (first.operation_id, first.fence + 1)
        [gone_on] = await store.open_calls()
        assert done is not None
        assert done.observation is not None
        assert (gone_on.state, gone_on.observation) == (CallState.CLAIMED, done.observation)
        assert await store.claim(again) is NotClaimed.KEY
        assert await store.settle(values.settlement(second, CallEvent.SUCCEED)) is not None
        assert await store.open_calls() == ()
        assert await store.claim(again) is NotClaimed.KEY

    async def test_only_the_unknown_call_that_has_the_key_is_continued(self, *, store: Store, values: Values) -> None:
        running = await claimed(store, intent=values.intent("k"))
        assert await store.claim(replace(values.intent("k"), continues=running.operation_id)) is NotClaimed.KEY
        await store.settle(values.settlement(running, CallEvent.LOSE_OUTCOME))
        assert await store.claim(replace(values.intent("other"), continues=running.operation_id)) is NotClaimed.KEY
        assert await store.claim(replace(values.intent("k"), continues="none")) is NotClaimed.KEY

    # --- settlements --------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("what", "state"),
        [
            (CallEvent.SUCCEED, CallState.SUCCEEDED),
            (CallEvent.SUCCEED_PARTLY, CallState.PARTIAL),
            (CallEvent.FAIL, CallState.FAILED),
            (CallEvent.PROVE_NOTHING_HAPPENED, CallState.RELEASED),
            (CallEvent.LOSE_OUTCOME, CallState.UNKNOWN),
        ],
    )
    async def test_a_settlement_leads_where_the_table_says(
        self, *, store: Store, values: Values, what: CallEvent, state: CallState
    ) -> None:
        intent = values.intent()
        settlement = values.settlement(await claimed(store, intent=intent), what)
        assert await store.settle(settlement) is not None
        found = await store.find(TENANT, intent.operation.id)
        assert found is not None
        assert (found.operation, found.state, found.observation) == (intent.operation, state, settlement.observation)

    async def test_what_has_ended_is_never_overwritten(self, *, store: Store, values: Values) -> None:
        claim = await claimed(store, intent=values.intent())
        await store.settle(values.settlement(claim))
        heads = await store.heads()
        for what in CallEvent:
            assert await store.settle(values.settlement(claim, what)) is None
        assert await store.heads() == heads

    async def test_a_late_result_closes_what_was_unknown(self, *, store: Store, values: Values) -> None:
        claim = await claimed(store, intent=values.intent("k"))
        await store.settle(values.settlement(claim, CallEvent.LOSE_OUTCOME))
        assert await store.settle(values.settlement(claim)) is not None
        prior = (await store.look(values.look("k"))).prior
        assert prior is not None
        assert prior.state is CallState.SUCCEEDED

    async def test_a_claim_with_another_fence_settles_nothing(self, *, store: Store, values: Values) -> None:
        claim = await claimed(store, intent=values.intent())
        for fence in (claim.fence - 1, claim.fence + 1):
            assert await store.settle(values.settlement(replace(claim, fence=fence))) is None
        assert await store.settle(values.settlement(Claim("none", TENANT, 1))) is None
        assert await store.settle(values.settlement(replace(claim, tenant="globex"))) is None

    async def test_a_write_whose_waiter_is_cancelled_is_carried_out_and_found(
        self, *, store: Store, values: Values
    ) -> None:
        intent = values.intent("k")
        waiter = asyncio.ensure_future(store.claim(intent))
        await asyncio.sleep(0)
        waiter.cancel()
        found = await store.find(TENANT, intent.operation.id)
        assert found is not None
        assert (found.state, found.orphaned) == (CallState.CLAIMED, False)
        assert await store.settle(values.settlement(Claim(intent.operation.id, TENANT, found.fence))) is not None

    async def test_a_read_that_may_be_held_in_memory_is_found_and_settled_as_one_record(
        self, *, store: Store, values: Values
    ) -> None:
        intent = values.read()
        claim = await claimed(store, intent=intent)
        found = await store.find(TENANT, claim.operation_id)
        assert found is not None
        assert (found.state, found.operation) == (CallState.CLAIMED, intent.operation)
        assert await store.settle(values.settlement(replace(claim, fence=claim.fence + 1))) is None
        receipt = await store.settle(values.settlement(claim))
        assert receipt is not None
        assert receipt.sequence == 1
        assert await store.settle(values.settlement(claim)) is None
        found = await store.find(TENANT, claim.operation_id)
        assert found is None or found.state is CallState.SUCCEEDED

    # --- epochs and runs ----------------------------------------------------------------------------------------------

    async def test_another_epoch_refuses_the_claim(self, *, store: Store, values: Values) -> None:
        intents = (values.intent("k"), values.read())
        epoch = await store.publish((values.registered("save"),), values.event())
        for intent in intents:
            assert await store.claim(intent) is NotClaimed.EPOCH
            await claimed(store, intent=replace(intent, epoch=epoch))

    async def test_a_run_that_has_changed_refuses_the_claim_that_read_it(self, *, store: Store, values: Values) -> None:
        run = (await store.look(values.look())).run
        assert run is not None
        await claimed(store, intent=replace(values.intent(), run_version=run.version, ceiling=SECRET))
        for intent in (values.intent(), values.read()):
            assert await store.claim(replace(intent, run_version=run.version)) is NotClaimed.RUN
            await claimed(store, intent=intent)

    async def test_a_claim_joins_its_ceiling_and_its_tool_into_the_run_at_once(
        self, *, store: Store, values: Values
    ) -> None:
        for intent in (values.intent(), values.read()):
            await claimed(store, intent=replace(intent, ceiling=SECRET))
            run = (await store.look(values.look())).run
            assert run is not None
            assert (run.id, run.labels, run.tools) == (RUN, SECRET, frozenset({"save"}))

    async def test_a_claim_that_adds_nothing_leaves_the_runs_version(self, *, store: Store, values: Values) -> None:
        await claimed(store, intent=values.intent())
        before = (await store.look(values.look())).run
        await claimed(store, intent=values.intent())
        assert (await store.look(values.look())).run == before

    async def test_what_was_read_joins_the_run_when_it_is_settled_or_replayed(
        self, *, store: Store, values: Values
    ) -> None:
        claim = await claimed(store, intent=values.intent())
        await store.settle(values.settlement(claim, labels=Labels(Confidentiality.INTERNAL)))
        await store.record(replace(values.entry(), labels=Labels(origins=frozenset({"web"}))))
        run = (await store.look(values.look())).run
        assert run is not None
        assert run.labels == Labels(Confidentiality.INTERNAL, origins=frozenset({"web"}))

    async def test_a_run_that_was_never_seen_has_done_nothing(self, *, store: Store, values: Values) -> None:
        run = (await store.look(values.look())).run
        assert run is not None
        assert (run.version, run.labels, run.tools, run.ended) == (0, NO_LABELS, frozenset(), None)
        assert (await store.look(Look(TENANT, None, None, ()))).run is None

    # --- bytes --------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("data", NASTY, ids=lambda data: ascii(data[:12]))
    async def test_bytes_come_back_as_they_went(self, *, store: Store, values: Values, data: bytes) -> None:
        operation = values.operation("k", sealed=data or b"{}")
        claim = await claimed(store, intent=replace(values.intent(), operation=operation))
        await store.settle(replace(values.settlement(claim), observation=data, event=values.event(data=data)))
        found = await store.find(TENANT, operation.id)
        assert found is not None
        assert (found.operation, found.observation) == (operation, data)
        await verified(store)

    @pytest.mark.parametrize("text", ["", " ", "\N{GRINNING FACE}", "a\x1fb", "'\"; --", "x" * 100_000], ids=ascii)
    async def test_texts_come_back_as_they_went(self, *, store: Store, values: Values, text: str) -> None:
        operation = replace(values.operation("k" + text), principal=text, call_id=text, task=text, source=text)
        await claimed(store, intent=replace(values.intent(), operation=operation))
        found = await store.find(TENANT, operation.id)
        assert found is not None
        assert found.operation == operation
