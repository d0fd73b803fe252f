"""What went wrong for others when arguments were pasted into requests, and requests went where they should not."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock import Credential, CredentialPlace, Host, HttpParameter, Principal, SpecInvalid, ToolCall, http_tool
from interlock.importers.openapi import take_snapshot
from tests import http_upstream as server
from tests.gates import ALICE, ALL, code, opened, records
from tests.http_upstream import Exchange, status, upstream
from tests.openapi_documents import document, loaded, parameter, unmade

pytestmark = [pytest.mark.trouble]

Case = Callable[[str], Mapping[str, Any]]
LOOPBACK = ["127.0.0.1"]
RECORD = HttpParameter("id", "path")


@pytest.mark.requirement("EXEC-6")
async def test_oai_01_no_argument_makes_another_request_of_it(trouble_case: Case) -> None:
    given = trouble_case("OAI-01")["input"]
    async with upstream(server.ok) as found:
        tool = http_tool(
            name="read_record",
            description="Read a record by its id.",
            effect="read",
            method="GET",
            url=f"{found.origin}{given['path']}",
            parameters=[RECORD],
        )
        async with opened(":memory:", [tool], ALL, egress_allow=LOOPBACK) as gate:
            calls = [ToolCall(str(number), "read_record", each) for number, each in enumerate(given["args"])]
            seen = [code(await gate.call(each, principal=ALICE)) for each in calls]
    sent = dict(zip(map(str, given["args"]), seen, strict=True))
    assert {key for key, ended in sent.items() if ended == "ok"} == {"{'id': 'a?x=1'}", "{'id': 'a#f'}"}
    assert {ended for ended in seen if ended != "ok"} == {"TOOL_ARGUMENT_INVALID"}
    assert [each.target for each in found.received] == ["/api/records/a%3Fx%3D1", "/api/records/a%23f"]


@pytest.mark.requirement("EXEC-6")
async def test_oai_02_nothing_private_is_reached_by_no_notation_and_no_detour(trouble_case: Case) -> None:
    given = trouble_case("OAI-02")["input"]

    async def called(url: str, *allowed: str) -> str:
        tool = http_tool(name="fetch", description="Fetch a page.", effect="read", method="GET", url=url)
        async with opened(":memory:", [tool], ALL, egress_allow=allowed) as gate:
            seen = await gate.call(ToolCall("c", "fetch", {}), principal=ALICE)
        assert seen.error is not None
        return seen.error.message

    async with upstream(status(302, location="http://10.0.0.1/")) as detour, upstream(status(302)) as private:
        port = private.port
        told = {await called(url) for url in given["urls"] if "->" not in url}
        told |= {await called(f"http://127.0.0.1:{port}/"), await called(f"http://2130706433:{port}/")}
        astray = await called(detour.origin, *LOOPBACK)
    assert len(told) == 1
    assert "10.0.0.1" not in astray
    assert private.connections == 0
    with pytest.raises(SpecInvalid, match="literal"):
        http_tool(name="x", description="X.", effect="read", method="GET", url=given["server_variable"]["url"])


@pytest.mark.requirement("EXEC-6")
async def test_oai_02_what_is_behind_a_redirect_looks_the_same_whatever_is_there() -> None:
    async with upstream(server.ok) as gone:
        pass
    told = set()
    for there in ("http://10.0.0.1/", "http://169.254.169.254/", f"{gone.origin}/", "http://no-such-host.invalid/"):
        async with upstream(status(302, location=there)) as found:
            tool = http_tool(name="fetch", description="Fetch a page.", effect="read", method="GET", url=found.origin)
            async with opened(":memory:", [tool], ALL, egress_allow=LOOPBACK) as gate:
                seen = await gate.call(ToolCall("c", "fetch", {}), principal=ALICE)
            assert seen.error is not None
            told.add((seen.error.code, seen.error.message, seen.retryable))
    assert len(told) == 1


@pytest.mark.requirement("REG-9")
async def test_oai_01_an_imported_operation_is_held_to_its_path_as_any_other(trouble_case: Case) -> None:
    given = trouble_case("OAI-01")["input"]
    operation = {"parameters": [parameter("id", "path", {"type": "string"})], "responses": {}}
    async with upstream(server.ok) as found:
        (tool,) = loaded(document({given["path"]: {"get": operation}}), server=found.origin).tools
        async with opened(":memory:", [tool], ALL, egress_allow=LOOPBACK) as gate:
            calls = [ToolCall(str(number), tool.name, each) for number, each in enumerate(given["args"])]
            ends = [code(await gate.call(each, principal=ALICE)) for each in calls]
    assert ends.count("ok") == 2
    assert {each for each in ends if each != "ok"} == {"TOOL_ARGUMENT_INVALID"}
    assert [each.target for each in found.received] == ["/api/records/a%3Fx%3D1", "/api/records/a%23f"]


@pytest.mark.requirement("REG-9")
def test_oai_02_a_variable_of_a_server_is_the_operators_and_no_argument(trouble_case: Case) -> None:
    given = trouble_case("OAI-02")["input"]["server_variable"]
    variables = {"region": {"default": "eu", "enum": ["eu", "us"]}}
    api = document({"/x": {"get": {"responses": {}}}}, servers=[{"url": given["url"], "variables": variables}])
    for wrong in (given["args"], {"region": "eu.api.example.test/#"}):
        with pytest.raises(SpecInvalid, match="one of eu, us"):
            take_snapshot(api, owner="pets", variables=wrong)
    snapshot = take_snapshot(api, owner="pets", variables={"region": "us"})
    assert snapshot.server == "https://us.api.example.test"
    (tool,) = loaded(api, server=snapshot.server).tools
    assert tool.spec().input_schema.value == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


@pytest.mark.requirement("REG-9")
@pytest.mark.parametrize(
    "reference", ["file:///etc/passwd", "http://169.254.169.254/latest/meta-data/", "../secrets.yaml"]
)
def test_a_reference_of_a_document_reads_no_file_and_no_address(reference: str) -> None:
    schema = {"$ref": reference}
    bodies = {"requestBody": {"content": {"application/json": {"schema": schema}}}, "responses": {}}
    places = [
        {"parameters": [schema]},
        {"parameters": [parameter("q", "query", schema)]},
        bodies,
        {"requestBody": schema},
    ]
    for each in places:
        found = unmade(document({"/x": {"post": {"responses": {}, **each}}}))
        assert "only references within the document" in found.reason
        assert "root:" not in found.reason


@pytest.mark.requirement("EXEC-8")
async def test_red_01_no_header_gets_into_a_log_at_any_level(
    trouble_case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    given = trouble_case("RED-01")["input"]
    caplog.set_level(getattr(logging, given["log_level"]))
    planted = {name: f"{value.split('=')[-1]}-planted" for name, value in given["headers"].items()}

    class Vault:
        async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
            return {name: planted[name] for name in names}

    async def says_them_again(exchange: Exchange) -> None:
        await exchange.answer(500, repr(exchange.request.headers).encode(), x_echo=repr(planted))

    async with upstream(says_them_again) as found:
        tool = http_tool(
            name="fetch",
            description="Fetch a page.",
            effect="write",
            method="POST",
            url=found.origin,
            credentials=[
                Credential("Authorization"),
                Credential("X-API-Key", CredentialPlace.HEADER, "X-API-Key"),
                Credential("Cookie", CredentialPlace.COOKIE, "sid"),
                Credential("MCP-Session-Id", CredentialPlace.HEADER, "MCP-Session-Id"),
            ],
        )
        async with opened(":memory:", [tool], ALL, host=Host(secrets=Vault()), egress_allow=LOOPBACK) as gate:
            seen = await gate.call(ToolCall("c", "fetch", {}), principal=ALICE, task="t")
            sinks = [repr(seen), gate.for_model(seen), str(await records(gate)), caplog.text]
    assert all(value in repr(found.received) for value in planted.values())
    assert not [value for value in planted.values() for sink in sinks if value in sink]
