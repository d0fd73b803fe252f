"""Kept results: forgotten in steps, whatever fits into one."""

import psycopg
import pytest

from interlock.store import postgres_artifacts
from interlock.testing.store_values import TENANT
from tests.postgres import Opens


async def test_many_parts_are_forgotten_in_steps(
    monkeypatch: pytest.MonkeyPatch, postgres_url: str, postgres_stores: Opens
) -> None:
    monkeypatch.setattr(postgres_artifacts, "FORGOTTEN_AT_ONCE", 2)
    store = await postgres_stores()
    for number in range(5):
        await store.artifacts.append(TENANT, "a", number=number, data=b"part", at_us=number)
    await store.artifacts.forget(4)
    with psycopg.connect(postgres_url) as admin:
        assert admin.execute("SELECT number FROM artifact_parts").fetchall() == [(4,)]
    assert await store.artifacts.part(TENANT, "a", number=4) is None
