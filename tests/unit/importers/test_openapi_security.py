"""Security schemes become credentials by name, bound to the server, never values and never arguments."""

from typing import Any

import pytest

from interlock.core.http_template import Credential, CredentialPlace
from interlock.importers.openapi_security import bound
from tests.openapi_documents import document, loaded, parameter, read, taken, unmade

pytestmark = pytest.mark.requirement("REG-9")

SCHEMES = {
    "oauth": {"type": "oauth2", "flows": {}},
    "oidc": {"type": "openIdConnect"},
    "token": {"type": "http", "scheme": "Bearer"},
    "login": {"type": "http", "scheme": "basic"},
    "digest": {"type": "http", "scheme": "digest"},
    "tls": {"type": "mutualTLS"},
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "sid": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "nameless": {"type": "apiKey", "in": "query"},
}


def secured(security: Any = None, **operation: Any) -> Any:
    own = {} if security is None else {"security": security}
    get = {"get": {"responses": {}, **own, **operation}}
    return document({"/x": get}, components={"securitySchemes": SCHEMES}, security=[{"token": []}])


@pytest.mark.parametrize(
    ("security", "wanted"),
    [
        (None, ["token"]),
        ([], []),
        ([{}], []),
        ([{"oauth": ["read"]}], ["oauth"]),
        ([{"tls": []}, {"login": []}], ["login"]),
        ([{"key": [], "sid": []}], ["key", "sid"]),
        ([{"token": [], "login": []}, {"key": []}], ["key"]),
    ],
)
def test_the_first_way_that_can_be_sent_is_taken(security: Any, wanted: list[str]) -> None:
    assert [name for name, _ in read(secured(security)).schemes] == wanted


def test_a_scheme_whose_name_nobody_can_read_is_listed() -> None:
    get = {"get": {"responses": {}, "security": [{"to\u200bken": []}]}}
    schemes = {"to\u200bken": SCHEMES["token"]}
    assert "nobody sees" in unmade(document({"/x": get}, components={"securitySchemes": schemes})).reason


@pytest.mark.parametrize("scheme", ["tls", "digest", "nameless", "undeclared"])
def test_a_way_that_cannot_be_sent_is_listed(scheme: str) -> None:
    assert scheme in unmade(secured([{scheme: []}])).reason


def test_no_two_servers_are_sent_the_secret_of_one_name() -> None:
    here, there = (taken(secured(), server=f"https://{host}/v1").secrets for host in ("a.example.com", "b.example.com"))
    assert here == {"token": "a.example.com/token"}
    assert there == {"token": "b.example.com/token"}
    (made,) = loaded(secured([{"login": []}])).tools
    assert made.spec().secrets == ("api.example.com/login/user", "api.example.com/login")


def test_a_parameter_where_a_credential_stands_is_nobodys() -> None:
    given = [parameter(name, "header", {"type": "string"}) for name in ("x-key", "X-Other")]
    found = read(secured([{"key": []}], parameters=given))
    assert [each.name for each in found.parameters] == ["X-Other"]
    assert found.notes == ("x-key is filled by a credential",)


def test_a_credential_is_bound_by_name() -> None:
    key = Credential("key", CredentialPlace.HEADER, "X-Key")
    assert bound(key, "vault/key") == Credential("vault/key", CredentialPlace.HEADER, "X-Key")
