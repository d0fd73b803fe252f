"""Questions of several processes."""

import asyncio
from dataclasses import replace

import pytest

from interlock.testing.store_values import TENANT, Values
from tests.postgres import Opens


@pytest.mark.requirement("APR-5")
async def test_the_same_question_asked_by_several_processes_at_once_is_one(postgres_stores: Opens) -> None:
    stores = [await postgres_stores() for _ in range(3)]
    values = Values()
    asking = values.asking("k")
    others = [replace(asking, approval=replace(asking.approval, id=f"approval-{number}")) for number in range(9)]
    asked = await asyncio.gather(
        *[store.ask(replace(each, event=values.event())) for store, each in zip(stores * 3, others, strict=True)]
    )
    assert len({approval.id for approval, _ in asked}) == 1
    assert sum(receipt is not None for _, receipt in asked) == 1
    assert len(await stores[0].approvals(TENANT)) == 1
