"""One tenant's SELECT: whatever its text says, it reads that tenant's rows alone, changes nothing, and ends."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "data-agent"
if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))

import safe_sql  # type: ignore[import-not-found]  # noqa: E402
from sales_data import sales_database  # type: ignore[import-not-found]  # noqa: E402

ATTACKS = (
    "SELECT * FROM main.all_sales",
    "SELECT COUNT(*) FROM all_sales",
    "WITH sales AS (SELECT * FROM main.all_sales) SELECT * FROM sales",
    "WITH sales AS (SELECT tenant AS day FROM all_sales) SELECT day FROM sales",
    "WITH all_sales AS (SELECT * FROM main.all_sales) SELECT * FROM all_sales",
    "WITH x AS MATERIALIZED (SELECT tenant FROM main.all_sales) SELECT * FROM x",
    "SELECT * FROM sales UNION ALL SELECT tenant, tenant, tenant, 1, 1 FROM all_sales",
    "SELECT EXISTS (SELECT 1 FROM all_sales WHERE tenant = 'globex')",
    "SELECT (SELECT MAX(tenant) FROM all_sales)",
    "SELECT day FROM sales LIMIT 1; SELECT tenant FROM all_sales",
    "SELECT 1; SELECT 2",
    "SELECT * FROM loads",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM temp.sqlite_master",
    "SELECT * FROM pragma_table_list",
    "SELECT load_extension('x')",
    "SELECT randomblob(10)",
    "SELECT x'00'",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c",
    "INSERT INTO sales VALUES (1)",
    "WITH x AS (SELECT 1) DELETE FROM all_sales",
    "WITH x AS (SELECT 1) INSERT INTO loads SELECT 'a', 1, 'b'",
    "ATTACH 'x' AS y",
    "PRAGMA table_list",
    "EXPLAIN SELECT * FROM sales",
    f"SELECT '{'x' * 200_000}'",
    "SELECT \x00",
    "",
)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(sales_database(tmp_path_factory.mktemp("sales") / "sales.db"))


@pytest.mark.parametrize("sql", ATTACKS, ids=range(len(ATTACKS)))
def test_what_would_read_more_or_change_anything_is_refused(database: Path, sql: str) -> None:
    before = database.read_bytes()
    with pytest.raises(safe_sql.SqlRefused):
        safe_sql.query(database, sql, tenant_id="acme")
    assert database.read_bytes() == before
    assert sorted(each.name for each in database.parent.iterdir()) == ["sales.db"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(units) FROM sales",
        "select sum(units) from sales -- all of them",
        "WITH t AS (SELECT * FROM sales) SELECT SUM(units) FROM t;",
        "SELECT SUM(units) FROM (SELECT units FROM sales AS all_sales)",
        "WITH sales(n) AS (SELECT 1) SELECT SUM(units) FROM temp.sales",
    ],
)
def test_each_tenant_gets_the_sum_of_its_own_rows(database: Path, sql: str) -> None:
    assert safe_sql.query(database, sql, tenant_id="acme").rows == [[189]]
    assert safe_sql.query(database, sql, tenant_id="globex").rows == [[378]]


@pytest.mark.parametrize("tenant", ["nobody", "acme' OR '1'='1", "", "ACME", "a" * 60])
def test_a_tenant_that_there_is_not_gets_nothing(database: Path, tenant: str) -> None:
    with pytest.raises(safe_sql.SqlRefused):
        safe_sql.query(database, "SELECT * FROM sales", tenant_id=tenant)


def test_more_rows_than_are_given_are_said_to_be_there(database: Path) -> None:
    found = safe_sql.query(database, "SELECT a.day FROM sales a, sales b", tenant_id="acme")
    assert (len(found.rows), found.more) == (safe_sql.ROWS_MAX, True)
    assert safe_sql.query(database, "SELECT day FROM sales WHERE 0", tenant_id="acme").rows == []


def test_what_takes_too_long_is_stopped(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_sql, "TIME_S", 0.05)
    with pytest.raises(safe_sql.SqlRefused, match="interrupted"):
        safe_sql.query(database, "SELECT COUNT(*) FROM sales a, sales b, sales c, sales d, sales e", tenant_id="acme")
