"""`interlock backup`: says what is not in a copy, proves it, restores it, and says what it cannot know then."""

import json
from pathlib import Path

import pytest

from interlock.doors.cli.backup import megabytes, stored
from interlock.doors.cli.project import read_project
from tests.unit.doors.cli.conftest import Cli


@pytest.fixture
def backup(cli: Cli, project: Path, waiting: str) -> Path:
    """A backup of a store in which an approval waits."""
    assert cli("backup", "create", "b.bak").code == 0
    return project / "b.bak"


@pytest.mark.requirement("DOOR-6", "AUD-6")
def test_a_copy_is_made_and_on_record_and_it_says_that_the_key_is_not_in_it(
    cli: Cli, project: Path, waiting: str
) -> None:
    ran = cli("backup", "create", "b.bak")
    assert "The key is not in it" in ran.out
    assert f"{project}/interlock.db.key" in ran.out
    made = cli("backup", "create", "c.bak", "--json").document
    assert made["size_bytes"] == (project / "c.bak").stat().st_size
    newest = cli("audit", "query", "--kind", "store.backed_up", "--json").document["records"][-1]["record"]
    assert (newest["file"], newest["sha256"], newest["principal"]) == ("c.bak", made["sha256"], "alice")


def test_nothing_is_overwritten_and_the_next_step_is_said(cli: Cli, backup: Path) -> None:
    ran = cli("backup", "create", "b.bak", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "NOT_WRITTEN")
    ran = cli("backup", "restore", "b.bak", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "NOT_WRITTEN")
    assert "another place" in ran.document["error"]["next"]


def test_copying_and_restoring_take_the_group_operator(cli: Cli, backup: Path) -> None:
    for verb in (("create", "c.bak"), ("restore", "b.bak", "--to", "c.db")):
        ran = cli("backup", *verb, "--as", "second", "--json")
        assert (ran.code, ran.document["error"]["code"]) == (3, "PERMISSION_DENIED")
    assert not (backup.parent / "c.bak").exists()
    assert not (backup.parent / "c.db").exists()


@pytest.mark.requirement("AUD-2")
def test_a_copy_proves_itself_with_the_projects_key_or_another(
    cli: Cli, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "The log holds" in cli("backup", "verify", "b.bak").out
    assert cli("backup", "verify", "b.bak", "--json").document["open_calls"] == 0
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "b.bak").write_bytes(backup.read_bytes())
    (alone / "key").write_bytes((tmp_path / "interlock.db.key").read_bytes())
    (tmp_path / "interlock.toml").rename(tmp_path / "away")
    monkeypatch.chdir(alone)
    assert cli("backup", "verify", "b.bak", "--json").document["error"]["code"] == "KEY_INVALID"
    assert cli("backup", "verify", "b.bak", "--key", "key").code == 0


def test_a_damaged_copy_is_named_as_such(cli: Cli, backup: Path) -> None:
    backup.write_bytes(backup.read_bytes()[:50_000])
    ran = cli("backup", "verify", "b.bak", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "BACKUP_INVALID")


@pytest.mark.requirement("DOOR-6", "APR-4")
@pytest.mark.parametrize("verb", ["verify", "restore"])
def test_a_copy_that_is_not_there_is_no_damaged_one(cli: Cli, project: Path, verb: str) -> None:
    ran = cli("backup", verb, "none.bak", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "FILE_UNUSABLE")
    assert "none.bak" in ran.document["error"]["message"]


def test_a_store_that_was_lost_is_restored_and_what_it_cannot_know_is_said(
    cli: Cli, backup: Path, waiting: str
) -> None:
    for each in backup.parent.glob("interlock.db*"):
        if each.suffix != ".key" and each.is_file():
            each.unlink()
    ran = cli("backup", "restore", "b.bak")
    assert ran.code == 0
    assert "What it cannot know" in ran.out
    assert cli("approvals", "show", waiting, "--json").document["state"] == "void"
    assert "in 2 chains" in cli("audit", "verify").out
    assert cli("doctor").code == 0


def test_a_store_elsewhere_needs_its_key_beside_it(cli: Cli, backup: Path) -> None:
    ran = cli("backup", "restore", "b.bak", "--to", "c.db")
    assert "put the store's key at c.db.key" in ran.out
    document = cli("backup", "restore", "b.bak", "--to", "d.db", "--json").document
    assert (document["voided"], len(document["not_known"])) == (1, 5)
    assert document["branch"] in json.dumps(document)


@pytest.mark.parametrize(("store", "says"), [(":memory:", "in memory"), ("postgresql://x/y", "pg_dump")])
def test_a_store_that_is_no_file_is_refused_with_what_to_do(cli: Cli, project: Path, store: str, says: str) -> None:
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace('"interlock.db"', f'"{store}"'))
    with pytest.raises(Exception, match=says):
        stored(read_project(project))
    assert megabytes(1_550_000) == "1.6 MB"
