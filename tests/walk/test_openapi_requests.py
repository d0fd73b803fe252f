"""Requests of imported operations, as a server on loopback gets them, against a reading of the document by other means.

What is expected is worked out here from the document and its examples: RFC 6570 by the table of its appendix, bodies by
the standard library. None of it is code of Interlock's.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from email import message_from_bytes
from itertools import count, product
from random import Random
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import pytest

from interlock import Host, Principal, ToolCall
from tests import http_upstream as server
from tests.gates import ALICE, ALL, code, opened
from tests.http_upstream import Received, upstream
from tests.openapi_documents import document, loaded, parameter

pytestmark = [pytest.mark.requirement("REG-9")]

TEXTS = ["blue", "a b", "50%", "x=1&y=2", "é/ü", "#?", "semi;colon", "plus+", "[0]", "~._-", "天"]
STYLES = {
    "path": ["simple", "label", "matrix"],
    "query": ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
    "header": ["simple"],
    "cookie": ["form"],
}
KINDS = ["string", "integer", "boolean", "array", "object"]
FITTING = {"spaceDelimited": ["array"], "pipeDelimited": ["array"], "deepObject": ["object"]}
RFC = {"simple": "", "label": ".", "matrix": ";", "form": "?"}
"""The operator of RFC 6570 that each style is."""
OPERATORS = {
    "": ("", ",", False, ""),
    ".": (".", ".", False, ""),
    ";": (";", ";", True, ""),
    "?": ("?", "&", True, "="),
}
"""First, separator, whether named, and what an empty value is written as (RFC 6570, appendix A)."""


def expanded(name: str, value: Any, *, operator: str, explode: bool) -> str:
    """One expression `{operator name modifier}` of RFC 6570, as its section 3.2.1 says."""
    first, separator, named, if_empty = OPERATORS[operator]
    if not isinstance(value, list | dict):
        text = spelled(value)
        return first + (name + (f"={text}" if text else if_empty) if named else text)
    pairs = value.items() if isinstance(value, dict) else [(None, each) for each in value]
    if explode:
        parts = [f"{spelled(key)}={spelled(each)}" if key is not None else spelled(each) for key, each in pairs]
        if named and isinstance(value, list):
            parts = [f"{name}={each}" if each else f"{name}{if_empty}" for each in parts]
        return first + separator.join(parts)
    flat = ",".join(spelled(each) for pair in pairs for each in pair if each is not None)
    return first + (f"{name}={flat}" if named else flat)


def spelled(value: Any) -> str:
    return quote(value if isinstance(value, str) else json.dumps(value), safe="")


def parameters(random: Random, place: str) -> Iterator[dict[str, Any]]:
    """A parameter of each style, explode and kind of value, with an example."""
    numbers = count()
    for style, explode, kind in product(STYLES[place], [True, False], KINDS):
        if kind not in FITTING.get(style, KINDS) or (explode and style in ("spaceDelimited", "pipeDelimited")):
            continue
        words = ["blue", "red7"] if place == "header" else [random.choice(TEXTS), random.choice(TEXTS)]
        example: Any = {
            "string": words[0],
            "integer": random.randrange(-9, 10**12),
            "boolean": random.choice([True, False]),
            "array": words,
            "object": {f"R{next(numbers)}": words[0], f"G{next(numbers)}": random.randrange(9)},
        }[kind]
        name = f"p{next(numbers)}-{place}"
        yield parameter(name, place, {"type": kind}, style=style, explode=explode, example=example)


def operations(seed: int) -> dict[str, Any]:
    """Operations that take up to three parameters of each place, until each was taken once."""
    random = Random(seed)
    waiting = {place: list(parameters(random, place)) for place in STYLES}
    paths: dict[str, Any] = {}
    for number in count():
        if not any(waiting.values()):
            return paths
        taken = [each.pop() for each in waiting.values() for _ in range(random.randint(1, 3)) if each]
        places = "/".join(f"a{{{each['name']}}}" for each in taken if each["in"] == "path")
        path = f"/o{number}/{places}" if places else f"/o{number}"
        paths[path] = {"get": {"operationId": f"o{number}", "parameters": taken, "responses": {}}}
    return paths


def in_query(given: Mapping[str, Any]) -> str:
    name, value = str(given["name"]), given["example"]
    if given["style"] == "deepObject":
        return "&".join(f"{spelled(f'{name}[{key}]')}={spelled(each)}" for key, each in value.items())
    if given["style"] != "form":
        mark = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}[given["style"]]
        return f"{name}={mark.join(map(spelled, value))}"
    return expanded(name, value, operator="?", explode=given["explode"]).removeprefix("?")


def in_header(given: Mapping[str, Any]) -> str:
    """Headers know no percent-encoding; the examples need none."""
    return expanded(str(given["name"]), given["example"], operator="", explode=given["explode"])


def expected(path: str, taken: Iterable[Mapping[str, Any]]) -> tuple[str, dict[str, str], str]:
    """Target, headers and cookie of an operation that is called with the examples of its document."""
    places: dict[str, list[Mapping[str, Any]]] = {place: [] for place in STYLES}
    for each in taken:
        places[each["in"]].append(each)
        if each["in"] == "path":
            text = expanded(each["name"], each["example"], operator=RFC[each["style"]], explode=each["explode"])
            path = path.replace(f"{{{each['name']}}}", text)
    query = "&".join(map(in_query, places["query"]))
    cookie = "; ".join(in_query(each).replace("&", "; ") for each in places["cookie"])
    headers = {each["name"].lower(): in_header(each) for each in places["header"]}
    return f"/base{path}" + (f"?{query}" if query else ""), headers, cookie


@pytest.mark.parametrize("seed", range(3))
async def test_every_style_of_every_place_is_sent_as_the_specification_writes_it(seed: int) -> None:
    paths = operations(seed)
    async with upstream(server.ok) as found:
        made = loaded(document(paths), server=f"{found.origin}/base")
        assert not made.refused
        async with opened(":memory:", made.tools, ALL, egress_allow=["127.0.0.1"]) as gate:
            for path, item in paths.items():
                taken = item["get"]["parameters"]
                arguments = {each["name"]: each["example"] for each in taken}
                seen = await gate.call(ToolCall("c", item["get"]["operationId"], arguments), principal=ALICE)
                assert code(seen) == "ok", (path, seen.error)
                sent, (target, headers, cookie) = found.received[-1], expected(path, taken)
                assert (sent.method, sent.target) == ("GET", target)
                assert {name: sent.headers[name] for name in headers} == headers
                assert sent.headers.get("cookie", "") == cookie
    assert len(found.received) == len(paths)


BODIES: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "application/json": (
        {"name": {"type": "string"}, "tags": {"type": "array"}, "more": {"type": ["object", "null"]}},
        {"name": "a b", "tags": ["x", {"y": None}], "more": None},
    ),
    "application/x-www-form-urlencoded": (
        {"name": {"type": "string"}, "tags": {"type": "array"}, "deep": {"type": "object"}},
        {"name": "a b&c=d", "tags": ["x+y", "é"], "deep": {"k": ["v", 1]}},
    ),
    "multipart/form-data": (
        {
            "name": {"type": "string"},
            "deep": {"type": "object"},
            "file": {"type": "string", "contentMediaType": "image/png"},
        },
        {"name": "é\r\n--x", "deep": {"k": 1}, "file": "iVBORw0KGgo="},
    ),
}


def read_back(request: Received) -> Any:
    """What a server reads out of a body, with the standard library."""
    kind = request.headers["content-type"]
    if kind == "application/json":
        return json.loads(request.body)
    if kind == "application/x-www-form-urlencoded":
        return parse_qsl(request.body.decode(), keep_blank_values=True, strict_parsing=True)
    message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + request.body)
    return [
        (
            part.get_param("name", header="content-disposition"),
            part.get_filename(),
            part.get_content_type(),
            part.get_payload(decode=True),
        )
        for part in message.get_payload()
        if not isinstance(part, str)
    ]


READ_BACK = {
    "application/json": {"name": "a b", "tags": ["x", {"y": None}], "more": None},
    "application/x-www-form-urlencoded": [
        ("name", "a b&c=d"),
        ("tags", "x+y"),
        ("tags", "é"),
        ("deep", '{"k":["v",1]}'),
    ],
    "multipart/form-data": [
        ("name", None, "text/plain", "é\r\n--x".encode()),
        ("deep", None, "application/json", b'{"k":1}'),
        ("file", "file", "image/png", b"\x89PNG\r\n\x1a\n"),
    ],
}


@pytest.mark.parametrize("media_type", BODIES)
async def test_a_body_is_read_by_a_server_as_the_document_means_it(media_type: str) -> None:
    properties, example = BODIES[media_type]
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    body = {"required": True, "content": {media_type: {"schema": schema, "example": example}}}
    async with upstream(server.ok) as found:
        made = loaded(document({"/b": {"post": {"requestBody": body, "responses": {}}}}), server=found.origin)
        async with opened(":memory:", made.tools, ALL, egress_allow=["127.0.0.1"]) as gate:
            assert code(await gate.call(ToolCall("c", "post_b", example), principal=ALICE, task="t")) == "ok"
    (sent,) = found.received
    assert (sent.method, sent.target, read_back(sent)) == ("POST", "/b", READ_BACK[media_type])
    if media_type == "application/json":
        assert sent.body == json.dumps(example, sort_keys=True, separators=(",", ":")).encode()
    if media_type == "application/x-www-form-urlencoded":
        assert sent.body.decode() == urlencode(READ_BACK[media_type], quote_via=quote, safe="")


@pytest.mark.parametrize(
    ("arguments", "body"), [({}, b""), ({"body": None}, b"null"), ({"body": {"a": 1}}, b'{"a":1}')]
)
async def test_a_body_that_may_be_left_out_is_sent_as_given_or_not_at_all(
    arguments: dict[str, Any], body: bytes
) -> None:
    content = {"content": {"application/merge-patch+json": {"schema": {"type": ["object", "null"]}}}}
    async with upstream(server.ok) as found:
        made = loaded(document({"/b": {"patch": {"requestBody": content, "responses": {}}}}), server=found.origin)
        async with opened(":memory:", made.tools, ALL, egress_allow=["127.0.0.1"]) as gate:
            assert code(await gate.call(ToolCall("c", "patch_b", arguments), principal=ALICE, task="t")) == "ok"
    assert found.received[0].body == body
    assert found.received[0].headers.get("content-type") == ("application/merge-patch+json" if body else None)


class Vault:
    """Credentials by the names that an import gives them."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        self.asked.append(names)
        return {name: f"value-of-{name.rpartition('/')[2]}" for name in names}


async def test_credentials_stand_where_the_document_says_and_nobody_else_may_fill_their_place() -> None:
    schemes = {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "sid": {"type": "apiKey", "in": "cookie", "name": "sid"},
        "q": {"type": "apiKey", "in": "query", "name": "k"},
        "login": {"type": "http", "scheme": "basic"},
    }
    given = [parameter("X-Key", "header", {"type": "string"}), parameter("sid", "cookie", {"type": "string"})]
    get = {"security": [{name: [] for name in schemes}], "parameters": given, "responses": {}}
    vault = Vault()
    async with upstream(server.ok) as found:
        api = document({"/c": {"get": get}}, components={"securitySchemes": schemes})
        made = loaded(api, server=found.origin)
        host = Host(secrets=vault)
        async with opened(":memory:", made.tools, ALL, host=host, egress_allow=["127.0.0.1"]) as gate:
            assert code(await gate.call(ToolCall("c", "get_c", {}), principal=ALICE)) == "ok"
            filled = await gate.call(ToolCall("d", "get_c", {"X-Key": "mine"}), principal=ALICE)
    assert code(filled) == "TOOL_ARGUMENT_INVALID"
    (sent,) = found.received
    assert sent.target == "/c?k=value-of-q"
    assert sent.headers["x-key"] == "value-of-key"
    assert sent.headers["cookie"] == "sid=value-of-sid"
    assert sent.headers["authorization"] == f"Basic {b64encode(b'value-of-user:value-of-login').decode()}"
    assert all(name.startswith(f"127.0.0.1:{found.port}/") for asked in vault.asked for name in asked)


async def test_what_a_snapshot_fixes_is_sent_and_approved_as_it_is_and_what_it_narrows_is_held() -> None:
    given = [parameter(name, "query", {"type": "string"}) for name in ("a", "b", "c")]
    async with upstream(server.ok) as found:
        api = document({"/n": {"get": {"parameters": given, "responses": {}}}})
        made = loaded(api, server=found.origin, fix={"a": "x y"}, narrow={"b": {"maxLength": 2}}, hide=("c",))
        async with opened(":memory:", made.tools, ALL, egress_allow=["127.0.0.1"]) as gate:
            ends = [
                code(await gate.call(ToolCall(str(number), "get_n", each), principal=ALICE))
                for number, each in enumerate([{"b": "12"}, {"b": "123"}, {"a": "y"}, {"c": "z"}, {"a": "x y"}])
            ]
    invalid = "TOOL_ARGUMENT_INVALID"
    assert ends == ["ok", invalid, invalid, invalid, "ok"]
    assert [each.target for each in found.received] == ["/n?a=x%20y&b=12", "/n?a=x%20y"]
