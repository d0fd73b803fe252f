"""A built request is within its template, whatever its arguments hold, or there is none."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.canonical import Json
from interlock.core.http_build import Filling, Request, Unbuildable, build, check_shape
from interlock.core.http_template import (
    BodyKind,
    Credential,
    CredentialPlace,
    Origin,
    Place,
    Slot,
    Style,
    Template,
    read_url,
)

API = Origin("https", "api.example.com", 443)
ID = Slot("id", Place.PATH, "id", Style.SIMPLE)


def template(*slots: Slot, path: str = "/v1/orders/{id}/lines", query: str = "", **more: object) -> Template:
    return Template("GET", API, path, query, (ID, *slots), **more)  # type: ignore[arg-type]


def built(given: Template, **values: Json) -> Request:
    found = build(given, Filling({"id": "7", **values}, "key-1", {"token": "s3cret-token", "user": "bob"}))
    assert isinstance(found, Request), found
    return found


def why(given: Template, secrets: Mapping[str, str] | None = None, **values: Json) -> Unbuildable:
    found = build(given, Filling({"id": "7", **values}, "key-1", secrets or {}))
    assert isinstance(found, Unbuildable), found
    return found


@pytest.mark.requirement("EXEC-6")
@given(value=st.text(max_size=12) | st.text(alphabet="./%25eE2\\;:@?#", max_size=10))
def test_no_value_of_a_path_leaves_its_place(value: str) -> None:
    found = build(template(), Filling({"id": value}))
    if isinstance(found, Request):
        read = read_url(f"https://api.example.com{found.target}")
        parts = read.path.split("/")
        assert (read.origin, parts[:3], parts[4:], read.query) == (API, ["", "v1", "orders"], ["lines"], "")
        assert parts[3] not in ("", ".", "..")
    else:
        assert found.argument == "id" or not value


@pytest.mark.requirement("EXEC-6")
def test_a_slash_in_a_value_of_a_path_is_no_part_of_its_structure() -> None:
    """OpenAPI, path templating: a value must not contain an unescaped `/`, `?` or `#`."""
    assert built(template(), id="a/b?c#d").target == "/v1/orders/a%2Fb%3Fc%23d/lines"
    many = Slot("id", Place.PATH, "id", Style.SIMPLE, explode=True)
    given = Template("GET", API, "/v1/files/{id}", "", (many,))
    assert built(given, id=["a", "b/c"]).target == "/v1/files/a,b%2Fc"


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize(
    "name", ["Limit", "limit[]", " limit", "limit\0x", "api key", "api.key", "where[owner]", "where"]
)
@pytest.mark.parametrize("place", [Place.QUERY, Place.BODY])
def test_a_name_of_the_models_choice_is_read_as_another_parameter_by_no_server(name: str, place: Place) -> None:
    rest = Slot("rest", place, "rest", Style.FORM, explode=True)
    limit = Slot("limit", place, "limit", Style.FORM)
    key = Slot("key", place, "api_key", Style.FORM)
    where = Slot("where", place, "where", Style.DEEP, explode=True)
    given = template(rest, limit, key, where, body=BodyKind.FORM)
    assert why(given, rest={name: "1"}).argument == "rest"  # also where the other one is absent
    assert why(given, rest={name: "1"}, limit="2", where={"a": "b"}).argument == "rest"
    assert isinstance(built(given, rest={"other": "1"}, limit="2", where={"a": "b"}), Request)


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("value", ["..", "%2e%2e", "..\\x", "", None, [], "x" * 20_000])
def test_a_path_value_that_climbs_or_is_nothing_makes_no_request(value: Json) -> None:
    assert why(template(), id=value)


@pytest.mark.requirement("EXEC-6")
def test_a_label_without_a_value_would_be_a_dot_segment() -> None:
    label = Template("GET", API, "/a/{id}", slots=(Slot("id", Place.PATH, "id", Style.LABEL),))
    assert isinstance(build(label, Filling({"id": ""})), Unbuildable)
    assert built(label, id="x").target == "/a/.x"


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b", "é", "\t", " a", ""])
def test_a_header_cannot_be_split(value: str) -> None:
    header = Slot("trace", Place.HEADER, "X-Trace", Style.SIMPLE)
    assert why(template(header), trace=value).argument == "trace"


@pytest.mark.requirement("EXEC-6")
def test_keys_of_an_object_cannot_take_the_place_of_another_parameter() -> None:
    rest = Slot("rest", Place.QUERY, "rest", Style.FORM, explode=True)
    admin = Slot("admin", Place.QUERY, "admin", Style.FORM)
    assert built(template(admin, rest), admin=False, rest={"a": "1"}).target.endswith("?admin=false&a=1")
    assert why(template(admin, rest), admin=False, rest={"admin": "true"}).argument == "rest"
    assert why(template(admin, rest), rest={"admin": "true"}).argument == "rest"
    assert why(template(rest, query="admin=no"), rest={"admin": "true"}).argument == "rest"
    keyed = template(rest, credentials=(Credential("token", CredentialPlace.QUERY, "api_key"),))
    assert why(keyed, {"token": "s3cret-token"}, rest={"api_key": "mine"}).argument == "rest"


def test_absent_arguments_leave_nothing_behind_and_a_literal_query_stays() -> None:
    search = Slot("q", Place.QUERY, "q", Style.FORM, explode=True)
    assert built(template(search, query="v=2&flag")).target == "/v1/orders/7/lines?v=2&flag"
    assert built(template(search), q="").target == "/v1/orders/7/lines?q="


def test_the_operations_key_may_stand_in_the_request_itself() -> None:
    reference = Slot("", Place.QUERY, "reference", Style.FORM)
    assert built(template(reference)).target.endswith("?reference=key-1")


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize(
    ("origin", "target"),
    [
        (API, "/v1/orders/7"),
        (API, "/v1/orders/7/lines/9"),
        (API, "/v1/admin/7/lines"),
        (API, "/v1/orders/../lines"),
        (API, "/v1/orders//lines"),
        (API, "@evil.example.com/v1/orders/7/lines"),
        (API, ".evil.example.com/v1/orders/7/lines"),
        (Origin("http", "api.example.com", 443), "/v1/orders/7/lines"),
        (Origin("https", "evil.example.com", 443), "/v1/orders/7/lines"),
        (API, "/v1/orders/7/lines?" + "x" * 20_000),
    ],
)
def test_a_request_that_left_its_template_all_the_same_is_not_sent(origin: Origin, target: str) -> None:
    check_shape(Request("GET", API, "/v1/orders/7/lines?a=1", ()), template())
    with pytest.raises(Exception, match=r"leave|longer|no URL|empty|climb"):
        check_shape(Request("GET", origin, target, ()), template())


@pytest.mark.requirement("EXEC-8")
@pytest.mark.parametrize(
    ("credential", "private", "target"),
    [
        (Credential("token"), (("Authorization", "Bearer s3cret-token"),), ""),
        (Credential("token", CredentialPlace.HEADER, "X-Key"), (("X-Key", "s3cret-token"),), ""),
        (
            Credential("token", CredentialPlace.BASIC, user="user"),
            (("Authorization", "Basic Ym9iOnMzY3JldC10b2tlbg=="),),
            "",
        ),
        (Credential("token", CredentialPlace.QUERY, "k"), (), "?k=s3cret-token"),
        (Credential("token", CredentialPlace.COOKIE, "k"), (("Cookie", "k=s3cret-token"),), ""),
    ],
)
def test_a_credential_stands_where_it_is_declared_and_is_not_shown(
    credential: Credential, private: tuple[tuple[str, str], ...], target: str
) -> None:
    request = built(template(credentials=(credential,)))
    assert (request.private, request.target.partition("lines")[2]) == (private, target)
    assert "s3cret" not in repr(request)
    assert "s3cret" not in repr(request.headers)


@pytest.mark.requirement("EXEC-8")
def test_a_credential_that_would_split_a_header_is_not_sent_and_not_told() -> None:
    found = why(template(credentials=(Credential("token"),)), {"token": "s3cret\r\nX: 1"})
    assert found.of_credential
    assert "s3cret" not in found.reason


def test_cookies_of_arguments_and_credentials_make_one_header() -> None:
    slot = Slot("c", Place.COOKIE, "c", Style.FORM)
    given = template(slot, credentials=(Credential("token", CredentialPlace.COOKIE, "k"),))
    assert built(given, c="a;b=c").private == (("Cookie", "k=s3cret-token; c=a%3Bb%3Dc"),)


@pytest.mark.requirement("EXEC-6")
def test_a_body_is_written_by_its_kind() -> None:
    note = Slot("note", Place.BODY, "text", Style.FORM, explode=True)
    request = built(template(note, body=BodyKind.JSON), note="hi")
    assert (request.body, request.headers) == (b'{"text":"hi"}', (("Content-Type", "application/json"),))
    assert built(template(note, body=BodyKind.FORM), note="h&i").body == b"text=h%26i"
    assert why(template(note, body=BodyKind.FORM), note=[["x"]]).argument == "note"


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize(("values", "body"), [({}, b""), ({"doc": None}, b"null"), ({"doc": {}}, b"{}")])
def test_a_body_that_is_one_argument_is_left_out_with_it_and_null_is_a_value(
    values: dict[str, Json], body: bytes
) -> None:
    slot = Slot("doc", Place.BODY, "", Style.FORM, media_type="application/merge-patch+json")
    found = built(template(slot, body=BodyKind.JSON), **values)
    kind = (("Content-Type", "application/merge-patch+json"),) if body else ()
    assert (found.body, found.headers) == (body, kind)


@pytest.mark.requirement("EXEC-6")
def test_a_member_that_is_null_is_sent_and_one_that_is_not_there_is_not() -> None:
    slots = (Slot("a", Place.BODY, "a", Style.FORM), Slot("b", Place.BODY, "b", Style.FORM))
    assert built(template(*slots, body=BodyKind.JSON), a=None).body == b'{"a":null}'
    assert built(template(*slots, body=BodyKind.JSON)).body == b"{}"
