"""Snapshots of every source are written, compared and renewed by the same options, answers and exit codes."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from tests.mcp_listed import Listing, entry
from tests.python_packages import CODE, install
from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-9")


@dataclass(frozen=True)
class Case:
    """A source by its verb: how it is imported first and later, how it changes, and an entry of it."""

    verb: str
    first: tuple[str, ...]
    later: tuple[str, ...]
    change: Callable[[str], None]
    entry: str


def _openapi(folder: Path) -> Case:
    def change(words: str) -> None:
        read = {"operationId": "read", "summary": words, "responses": {}}
        paths = {"/a": {"get": read}}
        text = json.dumps({"openapi": "3.1.0", "info": {"title": "A", "version": "1"}, "paths": paths})
        (folder / "api.json").write_text(text)

    change("One.")
    return Case("openapi", ("api.json", "--server", "https://a.test", "--owner", "me"), ("api.json",), change, "GET /a")


def _mcp(folder: Path) -> Case:
    server = Listing(folder)
    server.says(entry())
    return Case(
        "mcp",
        ("--owner", "me", "--", *server.command),
        (),
        lambda words: server.says(entry(description=words)),
        "send",
    )


def _python(folder: Path) -> Case:
    install(folder)
    return Case("python", ("acme-parts",), ("acme-parts",), lambda w: install(folder, code=f"{CODE}# {w}"), "find")


@pytest.fixture(params=[_openapi, _mcp, _python], ids=["openapi", "mcp", "python"])
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    monkeypatch.syspath_prepend(tmp_path)
    yield request.param(tmp_path)
    sys.modules.pop("acme_parts", None)


def test_each_is_written_compared_and_renewed_alike(cli: Cli, case: Case, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    made = cli("import", case.verb, "-o", "a.yaml", "--json", *case.first).document
    written = {"kind", "snapshot", "entries", "allowed", "not_tools", "changes", "next"}
    assert written <= made.keys()
    assert (made["kind"], made["allowed"], made["changes"]) == (case.verb, [], None)
    assert case.entry in made["entries"]
    path.write_text(path.read_text().replace("allow: false", "allow: true"))
    check = ("import", case.verb, "--check", "a.yaml", "--json", *case.later)
    same = cli(*check)
    assert (same.code, same.document["open"], same.document["next"]) == (0, False, "")
    case.change("Two.")
    other = cli(*check)
    assert (other.code, other.document["open"]) == (1, True)
    assert other.document.keys() == {"kind", "snapshot", "open", "changes", "next"}
    assert {"about", "new", "gone", "changed", "not_tools"} <= other.document["changes"].keys()
    assert f"`interlock import {case.verb} ... -o a.yaml` renews it (--accept ENTRY" in other.document["next"]
    kept = cli("import", case.verb, "-o", "a.yaml", "--accept", case.entry, "--json", *case.later).document
    assert case.entry in kept["allowed"]
    assert written <= kept.keys()
    case.change("Three.")
    assert case.entry not in cli("import", case.verb, "-o", "a.yaml", "--json", *case.later).document["allowed"]
    path.write_text(path.read_text().replace("allow: false", "allow: true"))
    case.change("Four.")
    all_ = cli("import", case.verb, "-o", "a.yaml", "--accept-all", "--json", *case.later).document
    assert case.entry in all_["allowed"]


def test_each_refuses_what_does_not_go_together_alike(cli: Cli, case: Case) -> None:
    for said in (("-o", "b.yaml"), ("--accept", "x"), ("--accept-all",)):
        found = cli("import", case.verb, "--check", "a.yaml", *said, "--json", *case.later)
        assert (found.code, found.document["error"]["code"]) == (2, "USAGE")
    fresh = cli("import", case.verb, "-o", "none.yaml", "--accept", "x", "--json", *case.first)
    assert (fresh.code, fresh.document["error"]["code"]) == (1, "IMPORT_INVALID")
    assert "of a snapshot that is there" in fresh.document["error"]["message"]
    gone = cli("import", case.verb, "--check", "none.yaml", "--json", *case.later)
    assert (gone.code, gone.document["error"]["code"]) == (1, "FILE_UNUSABLE")


def test_each_refuses_to_accept_what_is_not_there(cli: Cli, case: Case, tmp_path: Path) -> None:
    cli("import", case.verb, "-o", "a.yaml", *case.first)
    before = (tmp_path / "a.yaml").read_text()
    found = cli("import", case.verb, "-o", "a.yaml", "--accept", "no such one", "--json", *case.later)
    assert (found.code, found.document["error"]["code"]) == (1, "IMPORT_INVALID")
    assert (tmp_path / "a.yaml").read_text() == before
