"""A snapshot is written, read and renewed without losing what a person decided, and opens nothing by itself."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.importers.openapi_snapshot import read_snapshot, renewed, take_snapshot, write_snapshot
from tests.openapi_documents import document, parameter, taken

pytestmark = pytest.mark.requirement("REG-9")

SAME = {"operationId": "same", "responses": {}}
PATHS: dict[str, Any] = {"/a": {"get": {"summary": "A", "responses": {}}}, "/b": {"get": SAME}, "/c": {"options": {}}}


def test_nothing_is_allowed_until_a_person_says_so() -> None:
    snapshot = taken(document(PATHS))
    assert [*snapshot.operations] == ["GET /a", "GET /b"]
    assert not any(each.allow for each in snapshot.operations.values())
    assert [*snapshot.not_tools] == ["OPTIONS /c"]


def test_what_is_written_is_read_as_it_was() -> None:
    first = taken(document(PATHS))
    decided = replace(
        first.operations["GET /a"],
        allow=True,
        version="3",
        hide=("x",),
        fix={"y": [1, {"z": None}]},
        narrow={"q": {"maxLength": 4}},
        nothing_happened=(404,),
        options={"owner": "vets", "resource": ("Pet", "q"), "labels": {"trust": "internal"}},
    )
    snapshot = replace(first, file="../api.json", operations={**first.operations, "GET /a": decided})
    assert read_snapshot(write_snapshot(snapshot).encode()) == snapshot


def test_what_a_person_reviews_hides_nothing() -> None:
    hidden = [parameter("q\u202e", "query", {"type": "string"})]
    paths = {"/x\u202ey": {"get": {"responses": {}}}, "/q": {"get": {"responses": {}, "parameters": hidden}}}
    text = write_snapshot(taken(document(paths)))
    assert "\u202e" not in text
    assert "U+202E" in text


def test_a_snapshot_says_what_it_cannot_use() -> None:
    text = write_snapshot(taken(document(PATHS)))
    twice = text.replace("allow: false", "allow: true").replace("name: same", "name: get_a")
    for broken, says in (
        ("openapi: 3.1.0", "no snapshot"),
        (text.replace("owner: pets", "onwer: pets"), "is it 'owner'"),
        (text.replace("owner: pets\n", ""), "owner is missing"),
        (text.replace("server: https://", "server: ftp://"), "http"),
        (twice, "have the name get_a"),
        (text.replace("allow: false", "alow: false"), "is it 'allow'"),
    ):
        with pytest.raises(SpecInvalid, match=says):
            read_snapshot(broken.encode())


def changed(**others: Any) -> Any:
    asks = {"summary": "A", "responses": {}, "parameters": [parameter("q", "query", {"type": "string"})]}
    return document({**PATHS, "/a": {"get": asks}, **others})


def decided() -> Any:
    first = taken(document(PATHS))
    operations = {
        key: replace(each, allow=True, name=f"my_{each.name}", effect=Effect.WRITE, options={"owner": "vets"})
        for key, each in first.operations.items()
    }
    return replace(first, operations=operations, secrets={"gone": "x"}, file="api.json")


def test_renewing_keeps_decisions_and_closes_what_has_changed() -> None:
    before = decided()
    after = renewed(taken(changed()), before)
    a, b = after.operations["GET /a"], after.operations["GET /b"]
    assert (a.allow, a.version, a.name, a.effect, a.options) == (
        False,
        "2",
        "my_get_a",
        Effect.WRITE,
        {"owner": "vets"},
    )
    assert (b.allow, b.version) == (True, "1")
    assert a.digest != before.operations["GET /a"].digest
    assert (after.file, after.secrets) == ("api.json", {})
    assert renewed(taken(changed()), before, accept=["GET /a"]).operations["GET /a"].allow


def test_what_is_new_takes_no_name_that_is_taken() -> None:
    new = {"/d": {"get": {"operationId": "my_same", "responses": {}}}}
    after = renewed(taken(changed(**new)), decided())
    names = [each.name for each in after.operations.values()]
    assert len(set(names)) == 3
    assert names[1] == "my_same"


def test_the_server_is_fixed_when_it_is_taken() -> None:
    snapshot = take_snapshot(document(PATHS), owner="pets", server="https://{x}.test", variables={"x": "eu"})
    assert snapshot.server == "https://eu.test"
