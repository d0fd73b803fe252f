"""What a server lists is read once, cleaned, for a person to declare from."""

from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import Credential, McpServer, SpecInvalid, mcp_listing
from interlock.core.canonical import Json
from interlock.core.mcp_listed import Listed, read_listed
from interlock.upstream import _listed
from tests.mcp_upstream import over_http, over_stdio


async def test_a_server_of_either_kind_is_asked_page_by_page(tmp_path: Path) -> None:
    near = await mcp_listing(over_stdio(tmp_path).server)
    async with over_http(tmp_path) as found:
        far = await mcp_listing(found.server, egress_allow=["127.0.0.1"])
    assert near == far
    assert len({each.name for each in far}) == len(far) > 20


@pytest.mark.requirement("EXEC-6")
async def test_one_that_cannot_be_asked_is_named_with_the_reason(tmp_path: Path) -> None:
    async with over_http(tmp_path) as found:
        with pytest.raises(SpecInvalid, match="egress_allow does not list"):
            await mcp_listing(found.server)
    with pytest.raises(SpecInvalid, match="broke off"):
        await mcp_listing(McpServer(command=("sh", "-c", "exit 3")))
    with pytest.raises(SpecInvalid, match="the secret token is missing"):
        await mcp_listing(McpServer(url="https://a.example.com", credentials=(Credential("token"),)))
    with pytest.raises(SpecInvalid, match="in time"):
        await mcp_listing(McpServer(command=("sh", "-c", "read one; read two")), timeout_s=0.3)


def test_its_words_are_bounded_and_cleaned_and_its_hints_are_hints() -> None:
    given: Json = {
        "name": "a",
        "description": "x\u200b" * 10_000,
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "destructiveHint": "never"},
    }
    tool = read_listed(given)
    assert isinstance(tool, Listed)
    found = _listed(tool)
    assert len(found.description) == 4_096
    assert "\u200b" not in found.description
    assert found.hints == {"read_only_hint": True}
