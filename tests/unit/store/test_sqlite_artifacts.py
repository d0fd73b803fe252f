"""Results that are kept whole are sealed at rest like everything else that is."""

import asyncio
from pathlib import Path
from secrets import token_bytes

import pytest

from interlock.core.errors import InterlockError
from interlock.store.seal_aes import AesSeal
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract_artifacts import KEPT
from interlock.testing.store_values import NOW_US, TENANT


@pytest.mark.requirement("OBS-5")
async def test_a_kept_result_is_sealed_to_its_place(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "s.db", chain="main", seal=AesSeal(bytes(32), random=token_bytes))
    for number in range(2):
        await store.artifacts.append(TENANT, "a1", number=number, data=b"planted-secret-%d" % number, at_us=NOW_US)
    await store.artifacts.keep(KEPT)
    await store._writer.write(
        "swap", run=lambda: store._desk.db.connection.execute("UPDATE artifact_parts SET number = 5 WHERE number = 1")
    )
    assert await store.artifacts.part(TENANT, "a1", number=0) == b"planted-secret-0"
    with pytest.raises(InterlockError):
        await store.artifacts.part(TENANT, "a1", number=5)
    await store.close()
    kept = await asyncio.to_thread(lambda: [each.read_bytes() for each in tmp_path.iterdir() if each.is_file()])
    assert not any(b"planted-secret" in each for each in kept)
