"""The contract notices stores whose chains do not hold."""

from dataclasses import replace

import pytest

from interlock.core.chain import Head, Receipt
from interlock.core.journal import Event
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_audit import AuditContract
from interlock.testing.store_values import Values


class Skips(MemoryStore):
    """Answers, and writes nothing, every tenth time."""

    async def append(self, event: Event) -> Receipt:
        receipt = await super().append(event)
        if receipt.sequence % 10 == 0:
            self._chain._links.pop()
        return receipt


class StaleHeads(MemoryStore):
    async def heads(self) -> tuple[Head, ...]:
        return tuple(replace(head, sequence=head.sequence + 1) for head in await super().heads())


class ForgetsNothing(MemoryStore):
    async def purge(self, before_us: int, *, windows_before_us: int | None = None) -> None:
        return None


class ForgetsTooMuch(MemoryStore):
    async def purge(self, before_us: int, *, windows_before_us: int | None = None) -> None:
        await super().purge(before_us * 2)


@pytest.mark.parametrize(
    ("broken", "test", "given"),
    [
        (Skips, "test_parallel_records_make_chains_without_gaps", {}),
        (StaleHeads, "test_a_receipt_is_the_head_at_its_record", {}),
        (ForgetsNothing, "test_retention_forgets_what_was_kept_whole_and_the_chain_still_holds", {"is_open": False}),
        (ForgetsTooMuch, "test_retention_keeps_the_answer_of_a_key_that_still_answers", {}),
    ],
)
async def test_a_store_that_breaks_it_fails(broken: type[MemoryStore], test: str, given: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        await getattr(AuditContract(), test)(store=broken(), values=Values(), **given)
    await getattr(AuditContract(), test)(store=MemoryStore(), values=Values(), **given)
