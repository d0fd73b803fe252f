"""An HTTP tool is declared once, and refused where no server could mean it."""

from typing import Any, get_type_hints

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.http_template import Credential, CredentialPlace, HttpError, Style
from interlock.core.tool import Entrypoint, ErrorContract, ParameterSource
from interlock.declare.http import HttpTool, http_tool
from interlock.declare.http_options import HTTP_HINTS, HttpLookUp, HttpOptions
from interlock.declare.http_request import HttpParameter
from interlock.declare.options import SharedOptions

URL = "https://api.example.com/v1/orders/{order_id}"
ORDER = HttpParameter("order_id", "path", description="Its number.")


def declared(**changed: Any) -> HttpTool:
    options = {
        "name": "place_order",
        "description": "Place an order.",
        "effect": "write",
        "method": "PUT",
        "url": URL,
        "parameters": [ORDER],
    }
    return http_tool(**{**options, **changed})


def test_a_declaration_is_a_contract_and_a_request() -> None:
    tool = declared(
        parameters=[ORDER, HttpParameter("items", "body", {"type": "array", "maxItems": 9}, required=False)],
        body="json",
        key=["order_id"],
        resource=("Order", "order_id"),
        credentials=[Credential("token"), Credential("pass", CredentialPlace.BASIC, user="login")],
        errors=[HttpError(404, "NONE", nothing_happened=True), HttpError(410, "NONE", nothing_happened=True)],
        reconcile=HttpLookUp(URL, parameters=(ORDER,), not_happened=(404,)),
    )
    spec = tool.spec(tenant="acme")
    assert (spec.name, spec.effect, spec.tenant, spec.source) == ("place_order", Effect.WRITE, "acme", "http")
    assert spec.input_schema.value == {
        "type": "object",
        "properties": {
            "order_id": {"type": "string", "description": "Its number."},
            "items": {"type": "array", "maxItems": 9},
        },
        "required": ["order_id"],
        "additionalProperties": False,
    }
    assert spec.handler == Entrypoint("http", f"PUT {URL}", tool.code.fingerprint)
    assert spec.errors == (ErrorContract("NONE", nothing_happened=True),)
    assert spec.secrets == ("token", "login", "pass")
    assert spec.reconcile
    assert tool.code.look_up is not None
    assert tool.code.look_up.credentials == tool.code.request.credentials


@pytest.mark.requirement("EXEC-8")
def test_a_look_up_elsewhere_does_not_get_the_tools_credentials() -> None:
    tool = declared(credentials=[Credential("token")], reconcile=HttpLookUp("https://other.example.com/log"))
    assert tool.code.look_up is not None
    assert tool.code.look_up.credentials == ()


def test_the_style_of_a_place_is_that_of_openapi() -> None:
    def style(place: str, **more: Any) -> tuple[Style, bool]:
        slot = HttpParameter("a", place, **more).slot
        return slot.style, slot.explode

    assert [style(each) for each in ("path", "query", "header", "cookie")] == [
        (Style.SIMPLE, False),
        (Style.FORM, True),
        (Style.SIMPLE, False),
        (Style.FORM, True),
    ]
    assert style("query", style="deepObject") == (Style.DEEP, True)
    assert style("query", style="pipeDelimited") == (Style.PIPE, False)


def test_trusted_values_and_sensitive_ones_are_said_in_the_spec() -> None:
    tenant = HttpParameter("tenant", "header", wire_name="X-Tenant", source=ParameterSource.CONTEXT, inject="tenant")
    spec = declared(parameters=[ORDER, tenant, HttpParameter("pin", "query", sensitive=True)]).spec()
    assert [(each.name, each.inject, each.sensitive) for each in spec.parameters] == [
        ("tenant", "tenant", False),
        ("pin", "", True),
    ]


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"url": "https://{host}/v1/{order_id}"}, "literal"),
        ({"url": "https://api.example.com/v1/../{order_id}"}, "dot segments"),
        ({"url": "https://api.example.com/v1"}, "must stand once"),
        ({"url": URL + "?a={b}"}, "query"),
        ({"parameters": [ORDER, HttpParameter("order_id", "query")]}, "declared twice"),
        ({"parameters": [ORDER, HttpParameter("a", "query", wire_name="b"), HttpParameter("b", "query")]}, "twice"),
        ({"parameters": [ORDER, HttpParameter("a", "query", style="label")]}, "none of a query"),
        ({"parameters": [ORDER, HttpParameter("a", "nowhere")]}, "one of"),
        ({"parameters": [ORDER, HttpParameter("a", "header", wire_name="Host")]}, "no header"),
        ({"parameters": [ORDER, HttpParameter("a", "header", wire_name="Authorization")]}, "no header"),
        ({"parameters": [ORDER, HttpParameter("a", "header", wire_name="Idempotency-Key")]}, "of the gate"),
        ({"parameters": [ORDER, HttpParameter("a", "header", wire_name="X: 1\r\nY")]}, "no header"),
        ({"parameters": [ORDER, HttpParameter("a", "body")]}, "body"),
        ({"method": "GET", "effect": "read", "body": "json"}, "no body"),
        ({"method": "CONNECT"}, "method"),
        ({"headers": {"X-Version": "1\r\nEvil: 2"}}, "cannot be sent"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "no header"),
        ({"credentials": [Credential("token", CredentialPlace.QUERY)]}, "needs a name"),
        ({"credentials": [Credential("token", CredentialPlace.HEADER, "Host")]}, "no header"),
        ({"errors": [HttpError(404, "A"), HttpError(404, "B")]}, "declared twice"),
        ({"errors": [HttpError(404, "A"), HttpError(405, "A", retryable=True)]}, "two things"),
        ({"reconcile": HttpLookUp(URL, "POST", parameters=(ORDER,))}, "GET or HEAD"),
        ({"reconcile": HttpLookUp("https://a/{x}", parameters=(HttpParameter("x", "path"),))}, "no argument"),
        ({"reconcile": HttpLookUp("https://a/", found_at="items")}, "JSON pointer"),
        ({"reconcile": HttpLookUp("https://a/", absence_proves=True)}, "needs found_at"),
        ({"reconcile": HttpLookUp("https://a/", not_happened=(204,))}, "use found_at"),
        ({"connect_timeout_ms": 0}, "wait"),
        ({"input_schema": {"type": "object", "properties": {"other": {}}}}, "not in both"),
        ({"handler": "x"}, "no 'handler'"),
        ({"method": ""}, "say its method"),
        ({"effect": "sometimes"}, "effect"),
    ],
)  # fmt: skip
def test_what_no_server_could_mean_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecInvalid, match=said):
        declared(**changed)


def test_every_option_is_one_of_any_tool_or_of_its_requests() -> None:
    assert set(get_type_hints(HttpOptions)) == {*SharedOptions.__annotations__, *HTTP_HINTS}
