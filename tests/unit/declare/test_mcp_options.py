"""The options of an MCP tool are refused by name where one is misspelt, missing or of another type."""

from typing import Any

import pytest

from interlock import SpecInvalid
from interlock.declare.mcp_options import split
from interlock.declare.mcp_server import McpServer

GIVEN: dict[str, Any] = {
    "name": "find",
    "description": "Find it.",
    "effect": "read",
    "server": {"url": "https://a.example.com/mcp", "credentials": [{"secret": "token"}]},
    "tool": "search",
    "input_schema": {"type": "object"},
}


def test_plain_data_becomes_what_the_types_say() -> None:
    mcp, rest = split({**GIVEN, "errors": {"isError": {"code": "X"}}})  # type: ignore[typeddict-item]
    assert isinstance(mcp["server"], McpServer)
    assert mcp["server"].credentials[0].secret == "token"
    assert mcp["errors"]["isError"].code == "X"
    assert rest["name"] == "find"
    assert "server" not in rest


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"servr": {}}, "is it 'server'"),
        ({"server": None}, "say its server"),
        ({"server": {"ulr": ""}}, "is it 'url'"),
        ({"tool": ""}, "the server's tool and its input_schema"),
        ({"timeout_ms": "1"}, "timeout_ms"),
    ],
)
def test_what_is_wrong_is_named(more: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecInvalid, match=said):
        split({**GIVEN, **more})  # type: ignore[typeddict-item]
