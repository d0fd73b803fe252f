"""A store's mark of its keys: the first one stays, whoever comes later."""

from pathlib import Path

import pytest

from interlock.core.key_mark import key_mark
from interlock.store.sqlite import SqliteStore

FIRST, SECOND = (key_mark(name, master=name.encode() * 32) for name in ("a", "b"))


@pytest.mark.requirement("AUD-2")
async def test_the_keys_that_a_store_is_first_opened_with_are_remembered(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    assert await store.keys() is None
    assert await store.keep_keys(FIRST) == FIRST
    await store.close()
    again = await SqliteStore.open(tmp_path / "a.db", chain="main")
    assert await again.keys() == FIRST
    assert await again.keep_keys(SECOND) == FIRST
    await again.close()
