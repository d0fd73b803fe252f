"""A template's origin is literal, and everything that a template says is in its fingerprint."""

from dataclasses import replace

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.http_template import (
    Credential,
    HttpCode,
    HttpError,
    Origin,
    Place,
    Slot,
    Style,
    Template,
    origin_of_target,
    read_url,
)

EXAMPLE = Origin("https", "api.example.com", 443)


@pytest.mark.parametrize(
    ("url", "origin", "path", "query"),
    [
        ("https://API.example.com", EXAMPLE, "/", ""),
        ("https://api.example.com:443/v1/{id}?a=1", EXAMPLE, "/v1/{id}", "a=1"),
        ("http://[::1]:8080/x", Origin("http", "[::1]", 8080), "/x", ""),
    ],
)
def test_a_url_is_read_in_its_parts(url: str, origin: Origin, path: str, query: str) -> None:
    read = read_url(url)
    assert (read.origin, read.path, read.query) == (origin, path, query)


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com", "//example.com", "https:///x", "https://u:p@example.com/", "https://example.com/#a",
        "https://{host}.example.com/", "https://example.com:{port}/", "https://exa mple.com", "https://example.com\\@e.org/",
        "https://example.com/a\r\nb", "https://example.com:99999/", "https://éxample.com/", "https://[::1",
    ],
)  # fmt: skip
def test_a_url_that_leaves_its_origin_open_is_refused(url: str) -> None:
    with pytest.raises(SpecInvalid):
        read_url(url)


def test_the_authority_names_a_port_that_is_not_the_schemes_own() -> None:
    assert (EXAMPLE.authority, Origin("http", "[::1]", 8080).authority) == ("api.example.com", "[::1]:8080")
    assert str(Origin("http", "a", 443)) == "http://a:443"


def test_the_origin_is_read_back_from_an_entrypoint() -> None:
    template = Template("POST", Origin("http", "a", 81), "/v1/{id}")
    assert template.target == "POST http://a:81/v1/{id}"
    assert origin_of_target(template.target) == "http://a:81"


def test_the_headers_that_a_template_sets_are_known_in_lower_case() -> None:
    slot = Slot("kind", Place.HEADER, "Accept", Style.SIMPLE)
    assert Template("GET", EXAMPLE, "/", slots=(slot,), headers=(("X-V", "2"),)).header_names == {"accept", "x-v"}


def test_the_fingerprint_covers_all_of_it() -> None:
    code = HttpCode(Template("GET", EXAMPLE, "/a"))
    others = [
        replace(code, request=Template("GET", EXAMPLE, "/b")),
        replace(code, request=Template("GET", EXAMPLE, "/a", credentials=(Credential("t"),))),
        replace(code, statuses=(HttpError(404, "NONE"),)),
        replace(code, not_happened=(404,)),
        replace(code, key_header="X"),
    ]
    assert len({code.fingerprint, *[each.fingerprint for each in others]}) == len(others) + 1
    assert code.status(404) is None
    assert others[2].status(404) == HttpError(404, "NONE")


def test_the_secrets_of_a_credential_are_its_own_and_its_users() -> None:
    assert Credential("password", user="login").secrets == ("login", "password")
    assert Credential("token").secrets == ("token",)
