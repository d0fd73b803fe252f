"""`interlock store`: a dump makes a store again, and a store that moved is used in its new place only."""

import json
from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli


def point_to(project: Path, store: str) -> None:
    """Let the project's settings say where its store is now."""
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace('"interlock.db"', f'"{store}"'))


@pytest.mark.requirement("DOOR-6", "AUD-2", "AUD-6")
def test_a_dump_is_text_and_makes_a_store_again(cli: Cli, project: Path, waiting: str) -> None:
    made = cli("store", "dump", "a.dump", "--json").document
    first = json.loads((project / "a.dump").read_text().splitlines()[0])
    assert (first["interlock"], made["size_bytes"]) == ("dump/1", (project / "a.dump").stat().st_size)
    assert "holds every row" in cli("store", "dump", "b.dump").out
    assert cli("audit", "query", "--kind", "store.backed_up", "--json").document["records"]
    loaded = cli("store", "load", "a.dump", "--to", "b.db", "--json").document
    assert (loaded["voided"], len(loaded["not_known"])) == (1, 5)
    (project / "interlock.db.key").rename(project / "b.db.key")
    point_to(project, "b.db")
    assert "in 2 chains" in cli("audit", "verify").out
    assert cli("approvals", "show", waiting, "--json").document["state"] == "void"


@pytest.mark.requirement("AUD-2")
def test_a_dump_that_was_changed_makes_no_store(cli: Cli, project: Path, waiting: str) -> None:
    cli("store", "dump", "a.dump")
    text = (project / "a.dump").read_text()
    (project / "a.dump").write_text(text.replace('"default"', '"globex"', 1))
    ran = cli("store", "load", "a.dump", "--to", "b.db", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "BACKUP_INVALID")
    assert not (project / "b.db").exists()


@pytest.mark.requirement("DOOR-6", "AUD-2", "AUD-6", "SCALE-2")
def test_a_store_that_moves_goes_on_where_it_is(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("store", "move", "interlock.db", "b.db", "--json")
    assert (ran.code, ran.document["to"]) == (0, str(project / "b.db"))
    gone = cli("audit", "verify", "--json")
    assert (gone.code, gone.document["error"]["code"]) == (1, "STORE_MOVED")
    assert str(project / "b.db") in gone.document["error"]["message"]
    (project / "interlock.db.key").rename(project / "b.db.key")
    point_to(project, "b.db")
    assert "in 1 chain," in cli("audit", "verify").out
    assert cli("approvals", "approve", waiting, "--as", "second", "--yes", "--run").code == 0
    moved = cli("audit", "query", "--kind", "store.moved", "--json").document["records"]
    assert moved[0]["record"]["to"] == str(project / "b.db")


def test_moving_and_the_rest_take_an_operator_and_a_place_that_is_free(cli: Cli, project: Path, waiting: str) -> None:
    verbs = (("dump", "x"), ("load", "x", "--to", "b.db"), ("move", "interlock.db", "b.db"))
    for verb in verbs:
        ran = cli("store", *verb, "--as", "second", "--json")
        assert (ran.code, ran.document["error"]["code"]) == (3, "PERMISSION_DENIED")
    (project / "b.db").touch()
    ran = cli("store", "move", "interlock.db", "b.db", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "NOT_WRITTEN")
    assert cli("audit", "verify").code == 0


@pytest.mark.requirement("DOOR-6", "SCALE-2", "AUD-2")
def test_a_store_moves_into_a_database_and_goes_on_there(
    cli: Cli, project: Path, waiting: str, postgres_url: str
) -> None:
    ran = cli("store", "move", "interlock.db", postgres_url, "--json")
    assert ran.code == 0
    (project / "interlock.db.key").rename(project / ran.document["key"])
    assert cli("audit", "verify", "--json").document["error"]["code"] == "STORE_MOVED"
    point_to(project, postgres_url)
    assert "in 1 chain," in cli("audit", "verify").out
    assert cli("approvals", "approve", waiting, "--as", "second", "--yes", "--run").code == 0
    moved = cli("audit", "query", "--kind", "store.moved", "--json").document["records"]
    assert moved[0]["record"]["to"] == ran.document["to"]


def test_a_dump_that_is_not_there_is_said_so(cli: Cli, project: Path) -> None:
    ran = cli("store", "load", "none.dump", "--to", "b.db", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "FILE_UNUSABLE")
    assert not (project / "b.db").exists()
