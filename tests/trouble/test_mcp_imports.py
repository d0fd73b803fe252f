"""What went wrong for others with the tools of MCP servers: lists cut short or endless, rug pulls, led astray."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import Host, McpServer, SpecInvalid, ToolCall
from interlock.core.drift import Grade
from interlock.declare.mcp_server import McpListing
from interlock.importers.mcp import McpSnapshot, load_mcp, mcp_tools, take_mcp_snapshot
from interlock.importers.mcp_sync import mcp_changes
from interlock.upstream import mcp_server_listing
from tests.gates import ALICE, ALL, code, opened
from tests.http_upstream import Names, ok, status, upstream
from tests.mcp_listed import Listing, entry
from tests.mcp_snapshots import allowed, taken
from tests.mcp_upstream import over_http

pytestmark = [pytest.mark.trouble, pytest.mark.requirement("REG-9")]

Case = Callable[[str], Mapping[str, Any]]


async def asked(server: Listing) -> McpListing:
    return await mcp_server_listing(McpServer(command=server.command))


async def imported(server: Listing) -> McpSnapshot:
    declared = McpServer(command=server.command)
    return take_mcp_snapshot(await asked(server), server=declared, owner="office")


async def test_mcp_01_every_page_is_read_and_a_tool_of_a_later_one_is_called(
    trouble_case: Case, tmp_path: Path
) -> None:
    given = trouble_case("MCP-01")["input"]
    server = Listing(tmp_path)
    server.pages(*[[entry(name) for name in page["tools"]] for page in given["pages"]])
    snapshot = await imported(server)
    assert (snapshot.source["pages"], [*snapshot.tools]) == ("2", ["first", "later"])
    tools = {name: replace(each, allow=name in given["allow"]) for name, each in snapshot.tools.items()}
    async with opened(":memory:", mcp_tools(replace(snapshot, tools=tools)), ALL) as gate:
        call = ToolCall("c", "later", {"to": "a"})
        assert code(await gate.call(call, principal=ALICE, task="t")) == "ok"
        assert code(await gate.call(replace(call, name="first"), principal=ALICE, task="t")) == "TOOL_NOT_FOUND"
    gone = mcp_changes(replace(snapshot, tools=tools), taken(entry("first")))
    assert gone.drifted["later"].grade is Grade.GONE  # what is allowed and not listed is said


async def test_mcp_01_a_list_that_leads_back_to_itself_is_refused_with_the_reason(tmp_path: Path) -> None:
    server = Listing(tmp_path)
    server.says(*[entry(f"t{number}") for number in range(8)], cursor="same")
    with pytest.raises(SpecInvalid, match="does not end: page 2 leads back to an earlier one"):
        await asked(server)
    assert server.asked("tools/list") == 2


@pytest.mark.parametrize(
    ("pages", "says"),
    [
        ([[entry(f"t{number}") for number in range(10_000)]], "more than 2000 tools"),
        ([[entry(f"t{number}")] for number in range(101)], "within 100 pages"),
        ([[entry(description="x" * 20_000_000)]], "too large"),
    ],
)
async def test_a_list_without_measure_is_refused_with_the_reason(tmp_path: Path, pages: Any, says: str) -> None:
    server = Listing(tmp_path)
    server.pages(*pages)
    with pytest.raises(SpecInvalid, match=says):
        await asked(server)


async def test_mcp_02_a_tool_that_changes_after_its_review_is_refused_and_its_successor_is_no_tool(
    trouble_case: Case, tmp_path: Path
) -> None:
    given = trouble_case("MCP-02")["input"]
    day1, day2 = (
        {**given[day], "inputSchema": {"type": "object", **given[day]["inputSchema"]}} for day in ("day1", "day2")
    )
    server = Listing(tmp_path)
    server.says(day1)
    snapshot = allowed(await imported(server))
    turned = {name: day1[name] for name in reversed(day1)}
    assert not mcp_changes(snapshot, taken(turned)).drifted  # the order of keys is no drift
    seen = mcp_changes(snapshot, taken(day2)).drifted["send_email"]
    assert seen.grade is Grade.WIDENED
    assert {each.name for each in seen.fields} == {"description", "argument bcc", "arguments"}

    server.says(day2)
    async with opened(":memory:", mcp_tools(snapshot), ALL) as gate:
        call = ToolCall("c", "send_email", {"to": "a"})
        refused = await gate.call(call, principal=ALICE, task="t")
        assert code(refused) == "TOOL_QUARANTINED"
        assert refused.error is not None
        assert "BCC" not in refused.error.message
        assert code(await gate.call(replace(call, name="send_email_v2"), principal=ALICE)) == "TOOL_NOT_FOUND"
    assert server.asked("tools/call send_email") == 0

    day3 = {**day2, "name": "send_email_v2"}
    later = mcp_changes(snapshot, taken(day3))
    assert (later.new, later.drifted["send_email"].grade) == (("send_email_v2",), Grade.GONE)
    assert [(each.before, each.now) for each in later.renamed] == [("send_email", "send_email_v2")]


def test_mcp_02_a_snapshot_that_cannot_be_read_opens_nothing() -> None:
    snapshot = allowed(taken(entry()))
    tools = {"send": replace(snapshot.tools["send"], listed=taken(entry(title="T")).tools["send"].listed)}
    (tool,) = load_mcp(replace(snapshot, tools=tools)).tools
    assert tool.code.pin is not None
    assert tool.code.pin.digest != snapshot.tools["send"].digest  # it is held to what the file says was listed


async def test_mcp_03_a_name_that_leads_to_this_machine_leads_to_no_server_of_it(
    trouble_case: Case, tmp_path: Path
) -> None:
    given = trouble_case("MCP-03")["input"]
    name = given["request"]["Host"].partition(":")[0]
    async with over_http(tmp_path) as local:
        address = local.server.url.replace("127.0.0.1", name)
        server = McpServer(url=address)
        snapshot = allowed(take_mcp_snapshot(McpListing((entry("does_it"),)), server=server, owner="office"))
        names = Names([given["bind"]])
        async with opened(":memory:", mcp_tools(snapshot), ALL, host=Host(resolver=names)) as gate:
            seen = await gate.call(ToolCall("c", "does_it", {"to": "a"}), principal=ALICE, task="t")
            assert code(seen) == "TOOL_UNAVAILABLE"
        assert not local.noted("sent")


async def test_mcp_05_nothing_that_a_server_writes_of_where_to_log_in_is_asked(trouble_case: Case) -> None:
    given = trouble_case("MCP-05")["input"]
    written = "http://169.254.169.254/latest"
    async with upstream(ok) as internal:
        headers = [given["www_authenticate"].replace(written, url) for url in (written, f"{internal.origin}/metadata")]
        said = [await refused_with(header) for header in headers]
    assert internal.connections == 0
    assert len(set(said)) == 1  # nothing of what it wrote is told


async def refused_with(header: str) -> str:
    """What is said of a server that answers 401 with this header, which is asked nowhere but at its own place."""
    async with upstream(status(401, www_authenticate=header)) as found:
        with pytest.raises(SpecInvalid, match="the server cannot be asked") as told:
            await mcp_server_listing(McpServer(url=f"{found.origin}/mcp"), egress_allow=["127.0.0.1"])
        assert {each.target for each in found.received} == {"/mcp"}
        return str(told.value)
