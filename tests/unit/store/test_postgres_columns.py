"""A row is written alike whether it is alone in its batch, as values, or one of many, in arrays."""

import asyncio
from dataclasses import replace

import psycopg

from interlock.testing.store_contract_shared import claimed
from interlock.testing.store_values import Values, reserve
from tests.postgres import Opens

SAME = """
    SELECT count(*), count(DISTINCT (
        state, fence, taken_over, owner, at_us, until_us, settled_us, holds_key, run, task, convert_from(holds, 'utf8'),
        labels, observation_sealed, looks_count, looks_next_us, looks_escalated))
    FROM calls
"""


async def test_one_call_and_many_make_the_same_rows(postgres_url: str, postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    intents = [replace(values.intent(f"k{number}"), reservations=reserve(9)) for number in range(3)]
    claims = [await claimed(store, intent=intents[0])]
    claims += [each for each in await asyncio.gather(*map(store.claim, intents[1:])) if not isinstance(each, str)]
    with psycopg.connect(postgres_url) as reader:
        assert reader.execute(SAME).fetchone() == (3, 1)
        await store.settle(values.settlement(claims[0]))
        await asyncio.gather(*[store.settle(values.settlement(each)) for each in claims[1:]])
        reader.rollback()
        assert reader.execute(SAME).fetchone() == (3, 1)
        records = reader.execute("SELECT count(*), count(DISTINCT (tenant, kind)) FROM audit").fetchone()
        assert records == (6, 2)
