"""Addresses keep their settings, and never show a password."""

import pytest
from psycopg.conninfo import conninfo_to_dict

from interlock.core.errors import StoreError
from interlock.store.postgres_line import Line, addressed, database_of, shown

URL = "postgresql://alice:s3cret@db.example:5433/orders?sslmode=require&options=-c%20search_path%3Dinterlock"


def test_a_url_keeps_what_it_says_and_commits_are_durable() -> None:
    found = conninfo_to_dict(addressed(URL))
    assert (found["host"], found["sslmode"], found["password"]) == ("db.example", "require", "s3cret")
    assert str(found["options"]).startswith("-c search_path=interlock ")
    assert "synchronous_commit=on" in str(found["options"])


def test_a_url_is_shown_without_user_and_password() -> None:
    assert shown(URL) == "postgresql://db.example:5433/orders"
    assert shown("postgresql:///orders?host=/run/pg&password=s3cret") == "postgresql:///orders?host=/run/pg"
    assert shown("postgresql://a:b c@") == "postgresql://(not readable)"


def test_what_is_no_url_is_refused_without_being_repeated() -> None:
    with pytest.raises(StoreError, match="cannot be read") as refused:
        addressed("postgresql://alice:s3cret@[")
    assert "s3cret" not in str(refused.value)


def test_a_database_names_a_file() -> None:
    assert database_of("postgresql://host/orders") == "orders"
    assert database_of("postgresql://host/..%2Fetc") == ".._etc"


async def test_several_queries_take_one_trip_and_a_fault_undoes_them(postgres_url: str) -> None:
    line = await Line.open(postgres_url)
    try:
        assert await line.trip(("begin", ()), ("commit", ())) == [[], []]
        with pytest.raises(Exception, match="does not exist"):
            await line.trip(("begin", ()), ("select_epoch", ()), ("commit", ()))
        await line.roll_back()
        assert await line.trip(("begin", ()), ("commit", ())) == [[], []]
    finally:
        await line.close()
    assert line.is_broken


async def test_who_listens_hears_of_an_answer_before_who_waits_for_it_and_of_no_fault(postgres_url: str) -> None:
    line, heard = await Line.open(postgres_url), list[str]()
    line.answered = lambda: heard.append("answered")
    try:
        await line.trip(("begin", ()), ("commit", ()))
        heard.append("went on")
        with pytest.raises(Exception, match="does not exist"):
            await line.trip(("select_epoch", ()))
        assert heard == ["answered", "went on"]
    finally:
        await line.close()
