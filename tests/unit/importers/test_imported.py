"""One way to the tools of a reviewed file, whichever source it was taken of, also into a gate that is open."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from interlock import Imported, import_mcp, import_openapi, import_python
from interlock.core.errors import ActRefused, SpecInvalid
from interlock.importers.mcp import write_mcp_snapshot
from interlock.importers.openapi import read_openapi, take_snapshot, write_snapshot
from interlock.importers.python import take_python_snapshot, write_python_snapshot
from tests.agents import searches
from tests.gates import ALICE, OPERATOR, code, opened, search
from tests.mcp_snapshots import entry, taken
from tests.python_packages import install

pytestmark = pytest.mark.requirement("REG-9")

FIND = {"operationId": "find_pets", "summary": "Find pets.", "responses": {"200": {"description": "All."}}}
PETS = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {"/pets": {"get": FIND}},
}


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """A reviewed snapshot of a document that lies beside it."""
    document = tmp_path / "pets.json"
    document.write_text(json.dumps(PETS))
    snapshot = take_snapshot(read_openapi(document.read_bytes()), server="https://pets.test", owner="pets")
    return allowed(tmp_path / "pets.yaml", write_snapshot(replace(snapshot, file="pets.json")))


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A reviewed snapshot of a package that is installed for this test alone."""
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "parts.yaml"
    text = write_python_snapshot(take_python_snapshot("acme-parts"))
    path.write_text(
        text.replace("allow: false\n    place: acme_parts:find_part", "allow: true\n    place: acme_parts:find_part")
    )
    yield path
    sys.modules.pop("acme_parts", None)


def allowed(path: Path, text: str) -> Path:
    path.write_text(text.replace("allow: false", "allow: true"))
    return path


def names(found: Imported) -> list[str]:
    return [each.spec().name for each in found]


def test_a_program_imports_what_a_reviewed_file_allows_whichever_source_it_is_of(
    pets: Path, parts: Path, tmp_path: Path
) -> None:
    post = allowed(tmp_path / "post.yaml", write_mcp_snapshot(taken(entry())))
    assert names(import_openapi(pets)) == ["find_pets"]
    assert names(import_mcp(str(post))) == ["send"]
    assert names(import_python(parts)) == ["find_part"]


def test_what_is_allowed_and_makes_no_tool_is_given_with_its_reason_and_logged(
    pets: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (pets.parent / "pets.json").write_text(json.dumps(PETS).replace("Find pets.", "Send me all."))
    found = import_openapi(pets)
    assert found.tools == ()
    assert [(each.key, each.name) for each in found.refused] == [("GET /pets", "find_pets")]
    assert "GET /pets of pets.yaml is no tool: it has changed since it was reviewed" in caplog.text


@pytest.mark.parametrize("load", [import_openapi, import_mcp, import_python])
def test_a_file_that_is_no_snapshot_of_its_kind_or_is_not_there_is_refused(
    load: Callable[[Path], Imported], tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text("snapshot: other-1")
    with pytest.raises(SpecInvalid, match=r"a\.yaml: it is no snapshot of"):
        load(tmp_path / "a.yaml")
    with pytest.raises(OSError, match="none"):
        load(tmp_path / "none.yaml")


async def test_what_is_imported_later_can_be_called_in_the_gate_that_is_open(tmp_path: Path) -> None:
    ran = list[str]()
    async with opened(":memory:", []) as gate:
        with pytest.raises(ActRefused):
            await gate.catalogue.register(searches("1", ran=ran), by=ALICE)
        assert code(await gate.call(search(), principal=ALICE)) == "TOOL_NOT_FOUND"
        [spec] = await gate.catalogue.register(searches("1", ran=ran), by=OPERATOR)
        assert (spec.name, await gate.catalogue.register(searches("1", ran=ran), by=OPERATOR)) == ("search", ())
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
    assert ran == ["1"]


async def test_an_imported_file_goes_into_an_open_gate_as_it_is(pets: Path) -> None:
    async with opened(":memory:", [], egress_allow=("pets.test",)) as gate:
        [spec] = await gate.catalogue.register(import_openapi(pets), by=OPERATOR)
        assert (spec.name, spec.handler.kind, gate.catalogue.get("find_pets").spec) == ("find_pets", "http", spec)
