"""Where requests go is fixed by who imports: no document and no model moves it afterwards."""

from typing import Any

import pytest

from interlock.core.errors import SpecInvalid
from interlock.importers.openapi_operations import Reader
from interlock.importers.openapi_servers import checked_server, fixed_server
from tests.openapi_documents import SERVER, document

pytestmark = pytest.mark.requirement("REG-9")

REGIONS = {
    "url": "https://{region}.example.com/{base}/",
    "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}, "base": {"default": "v2"}},
}


def test_variables_take_what_the_operator_says_or_the_documents_default() -> None:
    found = document(servers=[REGIONS])
    assert fixed_server(found, "", {}) == "https://eu.example.com/v2"
    assert fixed_server(found, REGIONS["url"], {"region": "us"}) == "https://us.example.com/v2"  # type: ignore[arg-type]
    assert fixed_server(found, "https://{x}.test", {"x": "a"}) == "https://a.test"


@pytest.mark.parametrize(
    ("server", "variables", "says"),
    [
        ("", {"region": "evil.test/#"}, "one of eu, us"),
        ("", {"other": "x"}, "no variable other"),
        ("https://{x}.test", {}, "variable x"),
        ("https://{x}.test", {"x": "evil.test/#"}, "must hold neither"),
        ("https://{x}.test", {"x": "a@b"}, "must hold neither"),
        ("/v2", {}, "must begin with http"),
        ("ftp://x", {}, "must begin with http"),
        ("https://x.test/?a=1", {}, "without query"),
        ("https://x.test/{y", {}, "without query"),
    ],
)
def test_what_is_no_base_of_requests_is_refused(server: str, variables: dict[str, str], says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        fixed_server(document(servers=[REGIONS]), server, variables)


@pytest.mark.parametrize("servers", [None, [], [{"url": "/v1"}], [{"url": "https://a"}, {"url": "https://b"}], 7])
def test_the_server_must_be_said_where_the_document_leaves_it_open(servers: Any) -> None:
    with pytest.raises(SpecInvalid, match="say the server"):
        fixed_server(document(servers=servers), "", {})


def test_an_operation_with_a_server_of_its_own_is_listed() -> None:
    own = [{"url": "https://uploads.example.com"}]
    paths = {
        "/a": {"get": {"responses": {}, "servers": own}},
        "/b": {"servers": own, "get": {"responses": {}}},
        "/c": {"get": {"responses": {}, "servers": [{"url": f"{SERVER}/"}]}},
        "/d": {"get": {"responses": {}, "servers": []}},
    }
    reading = Reader(document(paths), SERVER).all()
    assert [each.key for each in reading.operations] == ["GET /c", "GET /d"]
    assert all("uploads.example.com" in each.reason for each in reading.unmade)


@pytest.mark.parametrize("path", [".evil.test/x", "@evil.test/x", ":8080/x", "evil", "", "/x/../y", "/x#y", "/x\\y"])
def test_a_path_leads_to_no_other_server(path: str) -> None:
    document_ = document({path: {"get": {"responses": {}}}}, security=[{}])
    assert [each.key for each in Reader(document_, "https://api.example.com").all().unmade] == [f"GET {path}"]


def test_a_base_ends_without_a_slash() -> None:
    assert checked_server("https://X.example.com:443/a/") == "https://x.example.com/a"
