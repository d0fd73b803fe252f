"""Which kind of store an address means."""

import pytest

from interlock.store.address import is_postgres


@pytest.mark.parametrize("address", ["postgres://host/name", "postgresql://host/name", "postgresql:///name?host=/run"])
def test_a_database_is_named_by_its_scheme(address: str) -> None:
    assert is_postgres(address)


@pytest.mark.parametrize("address", ["gate.db", "/srv/postgresql/gate.db", "postgresql.db", "mysql://host/name", ""])
def test_all_else_is_no_database(address: str) -> None:
    assert not is_postgres(address)
