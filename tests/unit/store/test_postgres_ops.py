"""An op that cannot be carried out leaves its fault in the place of its result."""

from interlock.core.errors import StoreError
from interlock.store.postgres_ops import Nothing, carried_out
from interlock.store.postgres_sheet import Desk, Needs, Sheet
from interlock.store.seal import NoSeal


class Failing(Nothing):
    def run(self, sheet: Sheet) -> None:
        raise StoreError("it cannot be sealed")


def test_a_fault_is_what_came_of_it() -> None:
    sheet = Sheet(Desk(NoSeal(), owner=1, chain=1, name="main", number=0, sequence=0, digest=bytes(32)))
    assert carried_out(Nothing(), sheet) is None
    assert isinstance(carried_out(Failing(), sheet), StoreError)
    needs = Needs()
    Nothing().needs(needs, sheet)
    assert not needs.anything
