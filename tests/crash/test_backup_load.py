"""A backup that is taken while 64 callers write restores to a store that holds together: log, calls, budgets."""

import asyncio
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from interlock import Host, Limit, ScopeKind, Unit
from interlock.copies import restore_backup
from interlock.core.audit_log import Verified
from interlock.core.effect import CallState
from interlock.keys import Keys
from tests.gates import ALICE, OPERATOR, Shelf, opened, save, search

HOST = Host(keys=Keys.random())
LIMITS = (Limit(ScopeKind.TENANT, Unit.CALLS, 1_000_000), Limit(ScopeKind.TENANT, Unit.CONCURRENT, 100))

BUSY = 1_000
COUNTED = "SELECT used_calls + held_calls FROM usage WHERE kind = 'tenant'"
RECORDED = """
SELECT (SELECT count(*) FROM calls WHERE state IN ('claimed', 'unknown'))
     + (SELECT count(*) FROM audit WHERE kind = 'call.settled')
"""
"""Every call that was counted, once: a read that was held in memory leaves its record and no row."""


@pytest.mark.requirement("AUD-2", "BUD-2", "IDEM-4")
async def test_what_64_callers_wrote_meanwhile_is_whole_in_the_copy(tmp_path: Path) -> None:
    shelf, busy, stop, made = Shelf(), asyncio.Event(), asyncio.Event(), 0

    async def call(caller: int) -> None:
        nonlocal made
        number = 0
        while not stop.is_set():
            number += 1
            wanted = save(f"{caller}-{number}") if caller % 2 else search(f"{caller}-{number}")
            await gate.call(wanted, principal=ALICE, task=f"{caller}-{number}")
            made += 1
            if made == BUSY:
                busy.set()

    async with opened(str(tmp_path / "a.db"), shelf.tools, limits=LIMITS, host=HOST) as gate:
        callers = [asyncio.create_task(call(caller)) for caller in range(64)]
        await asyncio.wait_for(busy.wait(), 30)
        await gate.backup(tmp_path / "b", by=OPERATOR)
        at_the_end = made
        stop.set()
        await asyncio.gather(*callers)
    assert at_the_end > BUSY, "nobody wrote while it was copied"

    restored = await restore_backup(tmp_path / "b", tmp_path / "c.db", by=OPERATOR, host=HOST)
    with closing(apsw.Connection(str(tmp_path / "c.db"))) as copied:
        assert copied.execute(COUNTED).fetchone() == copied.execute(RECORDED).fetchone()
    async with opened(str(tmp_path / "c.db"), shelf.tools, None, limits=LIMITS, host=HOST) as gate:
        assert isinstance(await gate.audit.verify(), Verified)
        left = await gate._world.recovery.open_calls()
        assert len(left) <= restored.backup.found.open_calls
        assert all(each.state is CallState.UNKNOWN for each in left)
        ((_, tenant),) = [each for each in await gate.usage("acme") if each[0].kind is ScopeKind.TENANT]
        assert tenant.held.concurrent == 0
        assert tenant.held.calls == len(left)
