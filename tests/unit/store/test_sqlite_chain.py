"""The audit chain in SQLite: an event that cannot be written leaves the chain where it was."""

from dataclasses import replace

import pytest

from interlock.core.journal import AuditQuery
from interlock.store import sqlite_chain
from interlock.store.queries import named_queries
from interlock.store.sqlite_chain import SqliteChain
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_values import Values

values = Values()


@pytest.mark.requirement("AUD-2")
def test_what_cannot_be_written_leaves_no_gap(desk: Desk) -> None:
    first = desk.chain.append(values.event())
    with pytest.raises(UnicodeEncodeError):
        desk.chain.append(replace(values.event(), call="\ud800"))
    assert desk.chain.head == first
    assert desk.chain.append(values.event()).sequence == 2


def test_a_chain_goes_on_from_its_written_head(desk: Desk) -> None:
    desk.chain.append(values.event())
    desk.chain.write()
    again = SqliteChain(desk.db, name="main")
    assert (again.id, again.head) == (desk.chain.id, desk.chain.head)


def test_chains_are_read_in_the_order_of_their_names(desk: Desk) -> None:
    for name in ("zebra", "ant"):
        chain = SqliteChain(desk.db, name=name)
        chain.append(values.event())
        chain.append(values.event())
        chain.write()
    found = [each.record.head for each in sqlite_chain.records(desk.db, query=AuditQuery(limit=3))]
    assert [(head.chain, head.sequence) for head in found] == [("ant", 1), ("ant", 2), ("zebra", 1)]
    rest = sqlite_chain.records(desk.db, query=AuditQuery(after=("zebra", 1)))
    assert [each.record.sequence for each in rest] == [2]


@pytest.mark.parametrize("query", [AuditQuery(call="c"), AuditQuery(subject="s"), AuditQuery()])
def test_a_query_never_scans_what_it_does_not_want(desk: Desk, query: AuditQuery) -> None:
    name = sqlite_chain._select(query)
    values = {**sqlite_chain._values(query), **sqlite_chain._span(1, start=0), "limit": 1}
    plan = desk.db.connection.execute(f"EXPLAIN QUERY PLAN {named_queries()[name]}", values).fetchall()
    assert all("SEARCH" in str(row[3]) for row in plan), plan
