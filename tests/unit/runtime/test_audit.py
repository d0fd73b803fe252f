"""The audit log at the gate: it proves itself, every edit is found, and who may read it is itself decided."""

import asyncio
import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import apsw
import pytest

from interlock.core.audit_entry import decode_entry, encode_entry
from interlock.core.audit_log import Verified
from interlock.core.chain import Break, link
from interlock.core.decision import Deny
from interlock.core.errors import ActRefused
from interlock.core.export import verify_export
from interlock.core.journal import RECORD, AuditQuery
from interlock.core.signing import fingerprint
from tests.gates import ALICE, ASKS, AUDITOR, OPERATOR, Shelf, asked, code, opened, records, save, search


def changed(value: object) -> object:
    """The same but for one byte, or one more."""
    if isinstance(value, bytes):
        middle = len(value) // 2
        return value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :]
    return f"{value}x" if isinstance(value, str) else int(str(value)) + 1


async def some_calls(path: str) -> None:
    async with opened(path, Shelf().tools, ASKS) as gate:
        await asyncio.gather(*[gate.call(search(str(index)), principal=ALICE) for index in range(10)])
        await asked(gate, save(text="long" * 1_000))


@pytest.mark.requirement("AUD-2")
async def test_a_log_proves_itself_also_after_many_calls_at_once_and_over_a_restart(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        await asyncio.gather(*[gate.call(search(str(index)), principal=ALICE) for index in range(200)])
        await gate.audit.checkpoint()
        proved = await gate.audit.verify()
        assert isinstance(proved, Verified)
        assert (proved.records >= 202, proved.unsigned) == (True, 0)
    if gate_path != ":memory:":
        async with opened(gate_path, shelf.tools, None) as gate:
            assert isinstance(await gate.audit.verify(), Verified)


@pytest.mark.requirement("AUD-2", "AUD-4")
async def test_an_export_verifies_by_itself_and_shows_nothing_of_other_tenants(gate_path: str) -> None:
    shelf, stranger = Shelf(), replace(ALICE, tenant="globex", id="gustav")
    async with opened(gate_path, shelf.tools) as gate:
        await gate.call(search("mine"), principal=ALICE)
        await gate.call(search("theirs"), principal=stranger)
        lines = await gate.audit.export(by=AUDITOR)
        assert not isinstance(lines, Deny)
        prints = frozenset({fingerprint(gate._world.signer.public_key())})
        assert isinstance(verify_export(lines, fingerprints=prints), Verified)
        whole = b"\n".join([*lines, *map(b64decode, re.findall(rb'"payload":"([^"]*)"', b"".join(lines)))])
        assert (b"gustav" in whole, b"theirs" in whole, b"globex" in whole) == (False, False, False)
        assert b"alice" in whole
        assert isinstance(verify_export([*lines[:2], *lines[3:]], fingerprints=prints), Break)
        assert [each["principal"] for each in await records(gate, "audit.exported")] == ["audrey"]


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("column", "hash body record kept_sealed tenant kind at_us call subject".split())
async def test_a_byte_that_was_changed_in_the_file_is_found(column: str, tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    await some_calls(path)
    database = apsw.Connection(path)
    query = f"select place, {column} from audit where length({column}) > 1 order by place desc limit 1"
    ((place, value),) = database.execute(query).fetchall()
    database.execute(f"update audit set {column} = ? where place = ?", (changed(value), place))
    database.close()
    async with opened(path, Shelf().tools, None) as gate:
        assert isinstance(await gate.audit.verify(), Break)


def forge(database: apsw.Connection, *, after: int) -> None:
    """Write a row that links to the last one, `after` places behind it."""
    place, digest, body, *rest = next(iter(database.execute("select * from audit order by place desc limit 1")))
    entry = decode_entry(body)
    assert entry is not None
    forged = encode_entry(replace(entry, sequence=entry.sequence + after))
    row = (place + after, link(digest, body=forged), forged, *rest)
    database.execute(f"insert into audit values ({','.join('?' * len(row))})", row)


def by_sql(*statements: str) -> Callable[[apsw.Connection], None]:
    return lambda database: [*map(database.execute, statements)].clear()


UNSIGNED = "delete from checkpoints"

FORGERIES: dict[str, Callable[[apsw.Connection], None]] = {
    "a row far beyond the end": partial(forge, after=500),
    "a row that links to the end": partial(forge, after=1),
    "rows of a chain that has none": by_sql(UNSIGNED, "update chains set sequence = 0"),
    "a record that was blanked": by_sql("update audit set record = null where place % 2"),
    "an end that was cut off": by_sql(UNSIGNED, "delete from audit where place = (select max(place) from audit)"),
    "an end that was written anew": by_sql(UNSIGNED, "update chains set hash = zeroblob(32)"),
}


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("forgery", FORGERIES)
async def test_whatever_a_reader_is_served_is_proved(forgery: str, tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    await some_calls(path)
    database = apsw.Connection(path)
    FORGERIES[forgery](database)
    database.close()
    async with opened(path, (), None) as gate:
        assert isinstance(await gate.audit.verify(), Break)


@pytest.mark.requirement("AUD-2")
async def test_an_export_from_which_a_record_was_blanked_does_not_verify(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    await some_calls(path)
    database = apsw.Connection(path)
    database.execute("update audit set record = null where kind = 'call.waiting'")
    database.close()
    async with opened(path, Shelf().tools, None) as gate:
        lines = await gate.audit.export(by=AUDITOR)
        assert not isinstance(lines, Deny)
        prints = frozenset({fingerprint(gate._world.signer.public_key())})
        assert isinstance(verify_export(lines, fingerprints=prints), Break)


@pytest.mark.requirement("AUD-4")
async def test_only_auditors_and_operators_of_the_tenant_read_it() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        await gate.call(search(), principal=ALICE)
        assert code(await gate.audit.query(AuditQuery(), by=ALICE)) == "PERMISSION_DENIED"
        assert code(await gate.audit.export(by=ALICE)) == "PERMISSION_DENIED"
        mine = await gate.audit.query(AuditQuery(tenant="globex"), by=OPERATOR)
        assert not isinstance(mine, Deny)
        assert {each.tenant for each in mine} == {"acme"}
        assert {part.name for each in mine for part in each.payloads} == {RECORD}
        assert await gate.audit.query(AuditQuery(), by=replace(AUDITOR, tenant="globex")) == ()


@pytest.mark.requirement("AUD-4")
async def test_retention_deletes_payloads_and_never_breaks_the_chain(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        await gate.call(save(), principal=ALICE, task="t")
        whole = "only kept whole " * 200
        await gate.call(save("n2", whole), principal=ALICE, task="t")
        for act in (gate.audit.purge, gate.audit.purgeable):
            with pytest.raises(ActRefused):
                await act(2**62, by=ALICE)
        goes = await gate.audit.purgeable(2**62, by=OPERATOR)
        assert goes.records
        assert goes.size_bytes > len(whole)
        assert (await gate.audit.purgeable(goes.oldest_us or 0, by=OPERATOR)).records == 0
        await gate.audit.purge(2**62, by=OPERATOR)
        assert (await gate.audit.purgeable(2**62, by=OPERATOR)).records == 0
        assert isinstance(await gate.audit.verify(), Verified)
        assert await records(gate, "audit.purged")
        left = await gate._world.audit.records(AuditQuery())
        assert not any(whole.encode() in part.data for each in left for part in each.payloads)


@pytest.mark.requirement("AUD-4")
async def test_nothing_of_a_call_under_way_goes(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        shelf.open.clear()
        under_way = asyncio.create_task(gate.call(save(text="x" * 5_000), principal=ALICE, task="t"))
        await shelf.started.wait()
        assert (await gate.audit.purgeable(2**62, by=OPERATOR)).size_bytes < 5_000
        await gate.audit.purge(2**62, by=OPERATOR)
        assert isinstance(await gate.audit.verify(), Verified)
        shelf.open.set()
        assert code(await under_way) == "ok"
        assert (await gate.audit.purgeable(2**62, by=OPERATOR)).size_bytes > 5_000


@pytest.mark.requirement("AUD-4", "IDEM-2")
async def test_no_purge_forgets_a_key_that_still_answers_whatever_time_it_names(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        await gate.call(save(), principal=ALICE, task="t")
        for _ in range(2):
            await gate.audit.purge(2**62, by=OPERATOR)
            assert (await gate.call(save(), principal=ALICE, task="t")).replayed
    assert len(shelf.saved) == 1


@pytest.mark.requirement("AUD-2")
async def test_closing_signs_where_the_log_stands_and_only_once(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    await some_calls(path)
    for _ in range(2):
        async with opened(path, Shelf().tools, None) as gate:
            proved = await gate.audit.verify()
            assert isinstance(proved, Verified)
            assert (proved.unsigned, proved.mark.number) == (0, 1)
