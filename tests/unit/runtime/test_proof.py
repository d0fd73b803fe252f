"""A log is proved page by page, whatever the size of a page and wherever it is read from."""

from pathlib import Path

import apsw
import pytest

from interlock.core.audit_log import Verified
from interlock.core.chain import Break
from interlock.core.journal import RECORD, AuditQuery, AuditRecord, Payload
from interlock.runtime import proof
from interlock.store.rows import frame
from tests.gates import ALICE, Shelf, opened, search


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("page", [1, 3, 2_000])
async def test_pages_of_any_size_prove_the_same(gate_path: str, page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "PAGE", page)
    async with opened(gate_path, Shelf().tools) as gate:
        for signed in range(3):
            await gate.call(search(str(signed)), principal=ALICE)
            await gate.audit.checkpoint()
        await gate.call(search("unsigned"), principal=ALICE)
        proved = await gate.audit.verify()
        assert isinstance(proved, Verified)
        assert proved.unsigned >= 1
        heads = await gate._world.audit.heads()
        assert proved.records == sum(head.sequence for head in heads)
        items = [item async for each in proof.pages(gate._world.audit) for item in each]
        assert sum(isinstance(item, AuditRecord) for item in items) == proved.records


@pytest.mark.requirement("AUD-2")
async def test_a_payload_that_somebody_put_beside_one_of_its_name_is_found(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    async with opened(path, Shelf().tools) as gate:
        await gate.call(search(), principal=ALICE)
        forged = frame([Payload(RECORD, bytes(16), b'{"principal":"bob"}')])
        database = apsw.Connection(path)
        ((place, whole),) = database.execute("select place, record from audit order by place desc limit 1").fetchall()
        database.execute("update audit set record = ? where place = ?", ((forged or b"") + whole, place))
        database.close()
        assert isinstance(await gate.audit.verify(), Break)


async def test_a_log_that_shows_less_than_its_heads_say_is_broken() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        await gate.call(search(), principal=ALICE)
        read = gate._world.audit.records

        async def all_but_the_last(query: AuditQuery) -> tuple[AuditRecord, ...]:
            head = (await gate._world.audit.heads())[0].sequence
            return tuple(each for each in await read(query) if each.record.sequence < head)

        gate._world.audit.records = all_but_the_last  # type: ignore[method-assign]  # the store as somebody cut it
        assert isinstance(await gate.audit.verify(), Break)
