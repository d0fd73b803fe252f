"""`interlock import openapi`: a snapshot is written, compared and renewed, and a project takes its tools from it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-9")

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(summary="...")` puts a document into the folder."""

    def put(*, summary: str = "Read a pet.", **others: Any) -> None:
        paths = {"/pets": {"get": {"operationId": "read_pets", "summary": summary, "responses": {}}}, **others}
        info = {"title": "Pets", "version": "1"}
        (tmp_path / "api.json").write_text(json.dumps({"openapi": "3.1.0", "info": info, "paths": paths}))

    put()
    return put


TAKE = ("import", "openapi", "api.json", "--server", "https://api.example.com", "--owner", "notes")


def allow(folder: Path) -> None:
    path = folder / "pets.yaml"
    path.write_text(path.read_text().replace("allow: false", "allow: true"))


def test_a_snapshot_is_written_and_says_what_to_do_next(cli: Cli, tmp_path: Path, write: Write) -> None:
    ran = cli(*TAKE, "-o", "pets.yaml", "--json")
    assert (ran.code, ran.document["entries"], ran.document["allowed"]) == (0, ["GET /pets"], [])
    text = (tmp_path / "pets.yaml").read_text()
    assert "allow: false" in text
    assert "file: api.json" in text
    assert cli(*TAKE).out == text
    assert "1 operation can be tools, 0 of them allowed" in cli(*TAKE).err


def test_what_has_changed_is_told_and_ends_with_1(cli: Cli, tmp_path: Path, write: Write) -> None:
    check = ("import", "openapi", "api.json", "--check", "pets.yaml")
    cli(*TAKE, "-o", "pets.yaml")
    assert (cli(*check).code, cli(*check).out) == (0, "Every operation is what was reviewed.\n")
    write(summary="Read any pet\u202e.", **{"/new": {"delete": {"responses": {}}}})
    ran = cli(*check)
    assert ran.code == 1
    assert "new      DELETE /new" in ran.out
    assert "    title: Read a pet. -> Read any pet." in ran.out
    told = cli(*check, "--json").document["changes"]
    assert told["new"] == ["DELETE /new"]
    assert told["changed"]["GET /pets"][0] == {"field": "title", "before": "Read a pet.", "now": "Read any pet."}


def test_a_project_has_the_tools_of_its_snapshots_until_they_change(cli: Cli, project: Path, write: Write) -> None:
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace("tools = ", 'openapi = ["pets.yaml"]\ntools = ', 1))
    cli(*TAKE, "-o", "pets.yaml")
    assert "read_pets" not in cli("tools", "list", "--all").out
    allow(project)
    assert cli("tools", "show", "read_pets", "--json").document["spec"]["owner"] == "notes"
    assert ("good", "none has drifted") in _imports_at_the_doctors(cli)
    write(summary="Read any pet.")
    state, found = _imports_at_the_doctors(cli)[0]
    assert state == "PROBLEM"
    assert "read_pets (GET /pets) of pets.yaml is no tool" in found
    ran = cli("tools", "list", "--all")
    assert ran.code == 0
    assert "read_note" in ran.out
    assert "read_pets (GET /pets) of pets.yaml is no tool: it has changed since it was reviewed: title" in ran.err


def _imports_at_the_doctors(cli: Cli) -> list[tuple[str, str]]:
    checks = cli("doctor", "--json").document["checks"]
    return [(each["state"], each["found"]) for each in checks if each["name"] == "imports"]


def test_renewing_closes_what_has_changed_unless_it_is_accepted(cli: Cli, tmp_path: Path, write: Write) -> None:
    renew = ("import", "openapi", "api.json", "-o", "pets.yaml")
    cli(*TAKE, "-o", "pets.yaml")
    allow(tmp_path)
    assert cli(*renew, "--json").document["allowed"] == ["GET /pets"]
    write(summary="Read any pet.")
    assert cli(*renew, "--json").document["allowed"] == []
    allow(tmp_path)
    write(summary="Read all pets.")
    assert cli(*renew, "--accept", "GET /pets", "--json").document["allowed"] == ["GET /pets"]
    assert "version: '3'" in (tmp_path / "pets.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("api.json", "--server", "https://x.test"), "--owner"),
        (("api.json", "--owner", "me"), "say the server"),
        (("api.json", "--owner", "me", "--server", "https://{a}.test", "--variable", "a"), "NAME=VALUE"),
        (("bad.json", "--owner", "me", "--server", "https://x.test"), "bad.json: line 1"),
        (("api.json", "--check", "bad.json"), "bad.json"),
        (("none.json", "--owner", "me", "--server", "https://x.test"), "none.json"),
        (("api.json", "--check", "none.yaml"), "none.yaml"),
    ],
)
def test_what_cannot_be_imported_says_why(cli: Cli, tmp_path: Path, write: Write, arguments: Any, says: str) -> None:
    (tmp_path / "bad.json").write_text("{")
    ran = cli("import", "openapi", *arguments)
    assert ran.code == 1
    assert says in ran.err


def test_a_project_whose_snapshot_is_missing_says_so(cli: Cli, project: Path) -> None:
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace("tools = ", 'openapi = ["pets.yaml"]\ntools = ', 1))
    ran = cli("tools", "list")
    assert (ran.code, "pets.yaml cannot be read" in ran.err) == (1, True)
