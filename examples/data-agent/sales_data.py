"""Makes the database of the example: the sales of two tenants in one table, as a warehouse would hold them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import apsw

TABLE: Final = "all_sales"
TENANTS: Final = ("acme", "globex")
LOADED_US: Final = 1_790_000_000_000_000
"""When the sales were loaded: a fixed time, so that the same question has the same answer."""

_SCHEMA: Final = f"""
CREATE TABLE {TABLE} (tenant TEXT, day TEXT, region TEXT, product TEXT, units INTEGER, amount_cents INTEGER);
CREATE TABLE loads (tenant TEXT PRIMARY KEY, loaded_us INTEGER, version TEXT);
"""
_REGIONS: Final = ("north", "south", "west")
_PRODUCTS: Final = ("bolt", "gear", "belt")


def sales_database(path: Path) -> Path:
    """The database at this path, made where there is none."""
    if path.exists():
        return path
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    connection = apsw.Connection(str(unfinished))
    with connection:
        connection.execute(_SCHEMA)
        for factor, tenant in enumerate(TENANTS, start=1):
            connection.executemany(f"INSERT INTO {TABLE} VALUES (?, ?, ?, ?, ?, ?)", _rows(tenant, factor))  # noqa: S608
            connection.execute("INSERT INTO loads VALUES (?, ?, ?)", (tenant, LOADED_US, f"load-{factor}"))
    connection.close()
    unfinished.replace(path)
    return path


def _rows(tenant: str, factor: int) -> list[tuple[str, str, str, str, int, int]]:
    return [
        (tenant, f"2026-{month:02}-15", region, product, units := factor * (month + 2 * at + 3 * of), units * 250)
        for month in (1, 2, 3)
        for at, region in enumerate(_REGIONS)
        for of, product in enumerate(_PRODUCTS)
    ]
