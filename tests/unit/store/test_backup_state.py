"""How a store stands is read from the side, while it is used."""

from pathlib import Path

from interlock.core.journal import EventKind
from interlock.store.backup_state import state_of
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_values import NOW_US, Values


async def test_what_is_open_and_what_was_done_last_is_told_of_a_store_in_use(tmp_path: Path) -> None:
    store, values = await SqliteStore.open(tmp_path / "a.db", chain="main"), Values()
    before = state_of(store.path)
    assert (before.open_calls, before.open_since_us, before.checkpoint_us, before.backed_up_us) == (0, None, None, None)
    await store.claim(values.intent("k"))
    event = values.event(EventKind.BACKED_UP)
    await store.append(event)
    found = state_of(store.path)
    assert (found.open_calls, found.open_since_us, found.backed_up_us) == (1, NOW_US, event.at_us)
    assert found.size_bytes > 0
    assert found.log_bytes > 0
    assert store.is_alone
    await store.close()
    assert state_of(store.path).log_bytes == 0
