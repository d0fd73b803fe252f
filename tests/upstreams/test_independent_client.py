"""Requests of imported operations against those of swagger-client, which others wrote, as a recording server gets them.

Both read the same document and are given the same arguments. Every request is equal in method, target, body and the
headers that the document speaks of, to the byte, but where `DIFFERS` says why the other one is not what is specified.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from pathlib import Path
from random import Random
from typing import Any

import pytest

from interlock import ToolCall
from interlock.core.schema import compile_schema
from interlock.importers.openapi_document import OpenApi, read_openapi
from tests import http_upstream as server
from tests.gates import ALICE, ALL, code, opened
from tests.http_upstream import Received, Upstream, upstream
from tests.openapi_documents import allowed, document, loaded, parameter, taken
from tests.unit.models.schema_samples import Samples
from tests.upstreams.servers import HERE, packages
from tests.walk.test_openapi_requests import STYLES, parameters

pytestmark = [pytest.mark.requirement("REG-9"), pytest.mark.timeout(120)]

DIFFERS: Mapping[str, str] = {
    "label without explode": """RFC 6570, 3.2.5: "{.list}" is ".red,green,blue"; OpenAPI 3.0.4 and 3.1.1, style
        examples: label, explode false, is ".blue,black,brown". It writes ".blue.black.brown", as 3.0.3 had it.""",
    "pipeDelimited": """OpenAPI 3.0.4 and 3.1.1, style examples: "color=blue%7Cblack%7Cbrown"; RFC 3986, 3.4, lets no
        "|" stand in a query. It writes a bare |.""",
    "cookies": """RFC 6265, 4.2.1: "cookie-string = cookie-pair *( ";" SP cookie-pair )", one pair for each. It sends
        the last cookie alone, writes the pairs of an exploded value within one, and encodes in part.""",
    "forms": """RFC 6570, 3.2.1: what is not unreserved is pct-encoded; OpenAPI, encoding object: "When style is form,
        the default value is true" of explode. It leaves "!*'()" as they are, and joins the values of an array.""",
    "JSON that is no object": """RFC 8259, 2: a JSON text is a serialized value, and a string has quotation marks. It
        sends a text bare, and nothing for 0, false and an empty text.""",
}
"""Where the other client is wrong, and by which sentence."""


FORM = "application/x-www-form-urlencoded"


@dataclass
class Case:
    """One call: the operation, what it is given as a tool's arguments, and as a document's parameters and body."""

    key: str
    arguments: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    kind: str = ""
    files: Sequence[tuple[str, str]] = ()
    differs: str = ""

    @property
    def asked(self) -> dict[str, Any]:
        """As the other client is told."""
        method, path = self.key.split(" ", 1)
        return {
            "path": path,
            "method": method.lower(),
            "parameters": dict(self.parameters),
            "body": json.loads(json.dumps(self.body, sort_keys="json" in self.kind)),
            "kind": self.kind,
            "files": self.files,
        }


async def ours(api: OpenApi, cases: Iterable[Case], *, at: Upstream, base: str) -> list[Received]:
    """What a gate sends."""
    snapshot, made = taken(api, server=base), loaded(api, server=base)
    assert not made.refused
    sent = []
    async with opened(":memory:", made.tools, ALL, egress_allow=["127.0.0.1"]) as gate:
        for number, case in enumerate(cases):
            call = ToolCall("c", snapshot.operations[case.key].name, dict(case.arguments))
            seen = await gate.call(call, principal=ALICE, task=f"t{number}")
            assert code(seen) == "ok", (case, seen)
            sent.append(at.received[-1])
        assert len(at.received) == len(sent)
    return sent


async def theirs(root: Mapping[str, Any], cases: Iterable[Case], *, at: Upstream) -> list[Received]:
    """What swagger-client sends."""
    before, asked = len(at.received), [case.asked for case in cases]
    program = ("node", str(HERE / "client.mjs"), str(packages()))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*program, stdin=pipe, stdout=pipe)
    told, _ = await process.communicate(json.dumps({"spec": root, "calls": asked}).encode())
    assert [json.loads(line) for line in told.splitlines()] == [{"status": 200}] * len(asked)
    return at.received[before:]


async def compared(root: Mapping[str, Any], cases: Sequence[Case], *, base: str = "/base") -> int:
    """Send each by both; how many were equal, when all were that are to be."""
    async with upstream(server.ok) as found:
        named = {"host": f"127.0.0.1:{found.port}", "basePath": base, "schemes": ["http"]}
        placed = named if "swagger" in root else {"servers": [{"url": f"{found.origin}{base}"}]}
        whole = {**root, **placed}
        api = read_openapi(json.dumps(whole).encode())
        mine = await ours(api, cases, at=found, base=f"{found.origin}{base}")
        others = await theirs(whole, cases, at=found)
    for case, one, other in zip(cases, mine, others, strict=True):
        assert (shown(one, case) == shown(other, case)) is not bool(case.differs), (
            case,
            shown(one, case),
            shown(other, case),
        )
    return sum(not case.differs for case in cases)


def shown(sent: Received, case: Case) -> tuple[Any, ...]:
    """What of a request is compared. `Accept` is each client's own: what it can read, not what a document demands."""
    given = {name.partition(".")[2].lower() for name in case.parameters if name.startswith("header.")}
    headers = {name: sent.headers.get(name) for name in (*sorted(given), "cookie")}
    kind = sent.headers.get("content-type")
    if kind is None or not kind.startswith("multipart/"):
        return sent.method, sent.target, headers, kind, sent.body
    return sent.method, sent.target, headers, *parts(kind, sent.body)


def parts(kind: str, body: bytes) -> list[tuple[str, bytes]]:
    """The parts of a multipart body, each with its headers: a boundary is each sender's own."""
    message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
    return [
        (f"{each.get_content_type()}; {each['content-disposition']}", each.get_payload(decode=True))  # type: ignore[misc]
        for each in message.get_payload()  # type: ignore[union-attr]
    ]


def why(given: Mapping[str, Any]) -> str:
    """Why a parameter is sent otherwise by the other client; empty where it is not."""
    is_many = isinstance(given["example"], list | dict)
    if given["in"] == "cookie":
        return "cookies" if is_many else ""
    if given["style"] == "label" and is_many and not given["explode"]:
        return "label without explode"
    return "pipeDelimited" if given["style"] == "pipeDelimited" else ""


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
async def test_every_style_and_explode_of_every_place_is_sent_as_by_another_client(seed: int) -> None:
    paths, cases = {}, []
    for number, given in enumerate(each for place in STYLES for each in parameters(Random(seed), place)):
        if given["in"] == "cookie" and isinstance(given["example"], str):
            given["example"] = "blue"
        path = f"/o{number}/x{{{given['name']}}}" if given["in"] == "path" else f"/o{number}"
        paths[path] = {"get": {"parameters": [given], "responses": {}}}
        arguments = {given["name"]: given["example"]}
        named = {f"{given['in']}.{given['name']}": given["example"]}
        cases.append(Case(f"GET {path}", arguments, named, differs=why(given)))
    two = [parameter(name, "cookie", {"type": "string"}) for name in ("a", "b")]
    paths["/two"] = {"get": {"parameters": two, "responses": {}}}
    both = {"cookie.a": "1", "cookie.b": "2"}
    cases.append(Case("GET /two", {"a": "1", "b": "2"}, both, differs="cookies"))
    cases.append(Case("GET /two", {"a": "50%"}, {"cookie.a": "50%"}, differs="cookies"))
    equal = await compared(document(paths).root, cases)  # type: ignore[arg-type]
    assert equal >= 40
    assert {case.differs for case in cases} == {"", "label without explode", "pipeDelimited", "cookies"}


NODE = {"type": "object", "properties": {"id": {"type": "integer"}, "next": {"$ref": "#/components/schemas/Node"}}}


def bodies() -> dict[str, Any]:
    """Operations with bodies of each kind, a recursive one among them."""
    text, many = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    file = {"type": "object", "properties": {"note": text, "file": {"type": "string", "contentMediaType": "image/png"}}}

    def taking(kind: str, schema: Any) -> dict[str, Any]:
        return {"post": {"requestBody": {"content": {kind: {"schema": schema}}, "required": True}, "responses": {}}}

    form = {"type": "object", "properties": {"a": text, "b": text, "many": many}}
    return {
        "/node": taking("application/json", {"$ref": "#/components/schemas/Node"}),
        "/list": taking("application/json", {"type": "array", "items": {"type": "number"}}),
        "/text": taking("application/json", text),
        "/patch": taking("application/merge-patch+json", {"type": "object", "properties": {"a": {}}}),
        "/form": taking(FORM, form),
        "/file": taking("multipart/form-data", file),
    }


async def test_bodies_are_sent_as_by_another_client() -> None:
    paths = bodies()
    node = {"id": 1, "next": {"id": 2, "next": {"id": 3}}}
    form, picture = {"a": "x y&z=1+2", "b": "é天~/?#[]@"}, "iVBORw0KGgo="
    odd = [{"a": "!*'()"}, {"many": ["1", "a b"]}]
    cases = [
        Case("POST /node", node, body=node, kind="application/json"),
        Case("POST /list", {"body": [1, 1.5, 1e21, -0.0]}, body=[1, 1.5, 1e21, 0], kind="application/json"),
        Case("POST /text", {"body": "ab"}, body="ab", kind="application/json", differs="JSON that is no object"),
        Case("POST /patch", {"body": {"a": None}}, body={"a": None}, kind="application/merge-patch+json"),
        Case("POST /form", form, body=form, kind=FORM),
        *[Case("POST /form", each, body=each, kind=FORM, differs="forms") for each in odd],
        Case(
            "POST /file",
            {"note": "é", "file": picture},
            body={"note": "é", "file": picture},
            kind="multipart/form-data",
            files=[("file", "image/png")],
        ),
    ]
    components = {"schemas": {"Node": NODE}}
    assert await compared(document(paths, components=components).root, cases) == 5  # type: ignore[arg-type]


async def test_operations_of_version_2_are_sent_as_by_another_client() -> None:
    def given(name: str, place: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "in": place, "type": "string", **more}

    many = {"type": "array", "items": {"type": "string"}}
    lists = {each: given(each, "query", **many, collectionFormat=each) for each in ("csv", "multi")}
    pet = {"type": "object", "properties": {"name": {"type": "string"}}}
    paths = {
        "/a/{id}": {
            "get": {"parameters": [given("id", "path", required=True), given("X-A", "header")], "responses": {}}
        },
        **{f"/{name}": {"get": {"parameters": [each], "responses": {}}} for name, each in lists.items()},
        "/c": {"post": {"parameters": [{"name": "pet", "in": "body", "schema": pet}], "responses": {}}},
        "/d": {
            "post": {
                "consumes": ["application/x-www-form-urlencoded"],
                "parameters": [given("x", "formData"), given("y", "formData")],
                "responses": {},
            }
        },
    }
    root = {
        "swagger": "2.0",
        "info": {"title": "Old", "version": "1"},
        "paths": paths,
        "consumes": ["application/json"],
    }
    values = ["a b", "c,d&e"]
    cases = [
        Case("GET /a/{id}", {"id": "x/y z", "X-A": "1"}, {"path.id": "x/y z", "header.X-A": "1"}),
        Case("GET /csv", {"csv": values}, {"query.csv": values}),
        Case("GET /multi", {"multi": values}, {"query.multi": values}),
        Case("POST /c", {"body": {"name": "Rex"}}, {"pet": {"name": "Rex"}}),
        Case("POST /d", {"x": "a b", "y": "é&"}, {"formData.x": "a b", "formData.y": "é&"}),
    ]
    assert await compared(root, cases) == 5


NO_INSTANCE = {"PUT /anything/quirks/polymorphism", "PATCH /anything/quirks/polymorphism"}
"""Operations whose bodies nothing fits, by what their document says."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["petstore-3.1", "polymorphism-3.0", "schema-types-3.1", "uspto-3.0", "callbacks-3.0"])
async def test_operations_of_published_documents_are_sent_as_by_another_client(
    openapi_documents: Path, name: str
) -> None:
    root = json.loads((openapi_documents / f"{name}.json").read_text())
    root.pop("security", None)
    for item in root["paths"].values():
        item.pop("servers", None)
        for operation in (each for each in item.values() if isinstance(each, dict)):
            operation.pop("security", None)
            operation.pop("servers", None)
    api = read_openapi(json.dumps(root).encode())
    tools = {each.name: each for each in loaded(api).tools}
    cases = [
        sample(root, key, tool=tools[each.name], dice=Random(f"{key} {seed}"))
        for key, each in allowed(taken(api)).operations.items()
        for seed in range(3)
        if key not in NO_INSTANCE
    ]
    assert await compared(root, cases) >= len(cases) - 6


def sample(root: Any, key: str, *, tool: Any, dice: Random) -> Case:
    """Arguments that fit the tool, and what they are in the document."""
    schema = tool.spec().input_schema.value
    compiled, samples = compile_schema(schema), Samples(schema, dice, astray=0.0)
    arguments = next(value for value in iter(samples.one, object()) if compiled.is_valid(value) and sendable(value))
    method, path = key.split(" ", 1)
    item = root["paths"][path]
    operation = item[method.lower()]
    places = {
        each["name"]: each["in"]
        for each in (at(root, given) for given in (*item.get("parameters", ()), *operation.get("parameters", ())))
    }
    given = {name: value for name, value in arguments.items() if name in places}
    rest = {name.removeprefix("body_"): value for name, value in arguments.items() if name not in places}
    request = at(root, operation.get("requestBody", {}))
    content = request.get("content", {})
    kind = "application/json" if "application/json" in content else next(iter(content), "")
    kind = kind if rest or request.get("required") or kind == FORM else ""
    is_whole = set(rest) == {"body"}
    body = rest["body"] if is_whole else rest
    bare = isinstance(body, str) or body in (0, False)
    return Case(
        key,
        arguments,
        {f"{places[name]}.{name}": value for name, value in given.items()},
        body=body,
        kind=kind,
        differs="JSON that is no object" if bare and kind == "application/json" else "",
    )


def at(root: Any, node: Any) -> Any:
    """What a reference leads to."""
    while "$ref" in node:
        found = root
        for step in node["$ref"].split("/")[1:]:
            found = found[step.replace("~1", "/").replace("~0", "~")]
        node = found
    return node


def sendable(value: Mapping[str, Any]) -> bool:
    """Nothing in it is empty, which no path takes, or beyond ASCII, which no header takes."""
    return all(str(each).isascii() and each != "" for each in value.values())
