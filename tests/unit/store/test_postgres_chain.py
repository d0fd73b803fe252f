"""Records of several chains are read page by page."""

from interlock.core.journal import AuditQuery
from interlock.testing.store_values import Values
from tests.postgres import Opens


async def test_pages_go_from_one_chain_to_the_next(postgres_stores: Opens) -> None:
    stores, values = [await postgres_stores(), await postgres_stores()], Values()
    for store in stores * 3:
        await store.append(values.event())
    places: list[tuple[str, int]] = []
    while True:
        page = await stores[0].records(AuditQuery(after=places[-1] if places else None, limit=2))
        if not page:
            break
        places += [(each.record.chain, each.record.sequence) for each in page]
    assert places == [(chain, number) for chain in ("main", "main.2") for number in (1, 2, 3)]
