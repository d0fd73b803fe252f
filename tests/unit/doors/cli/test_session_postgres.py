"""A project whose store is a PostgreSQL database: every command works, from any folder, and none shows the password."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

PASSWORD = "pa55-w0rd"


def point_to(project: Path, url: str) -> None:
    """Let the project's settings say where its store is."""
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace('"interlock.db"', f'"{url}"'))


@pytest.mark.requirement("DOOR-6", "SCALE-2")
def test_a_project_works_on_a_database(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    point_to(project, f"{postgres_url}&password={PASSWORD}")
    (project / "deeper").mkdir()
    ran = [cli("call", "save_note", '{"title": "hello", "text": "Good morning."}', "--task", "t", "--json")]
    assert ran[0].code == 4
    monkeypatch.chdir(project / "deeper")
    ran += [cli("approvals", "list", "--json"), cli("audit", "verify"), cli("tools", "list"), cli("doctor")]
    assert [each.code for each in ran[1:4]] == [0, 0, 0]
    assert "its log of" in ran[4].out
    assert [file.name for file in project.glob("*.key")] == ["postgres.key"]
    assert PASSWORD not in "".join(each.out + each.err for each in ran)


def test_a_database_that_is_not_there_is_told_without_its_password(cli: Cli, project: Path) -> None:
    point_to(project, f"postgresql://alice:{PASSWORD}@127.0.0.1:1/orders")
    ran = [cli("doctor"), cli("audit", "verify"), cli("audit", "verify", "--json")]
    assert all(each.code for each in ran)
    assert "postgresql://127.0.0.1:1/orders" in ran[0].out
    assert "Look whether the database is up" in ran[0].out
    assert PASSWORD not in "".join(each.out + each.err for each in ran)
