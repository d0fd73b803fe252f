"""What `mcp_tool` takes, with the type of each option, so that a misspelled or misfitting one is refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from interlock.core.errors import SpecInvalid
from interlock.core.mcp_call import McpLookUp, McpPin
from interlock.core.tool import ErrorContract, Parameter
from interlock.declare.mcp_server import McpListed, McpServer
from interlock.declare.options import SharedOptions, ToolOptions, checked
from interlock.declare.typed_values import check_keys, typed


class McpOptions(SharedOptions, total=False):
    """What `mcp_tool(...)` takes, all by keyword; its docstring says what each option is for."""

    server: McpServer
    tool: str
    listed: McpListed
    errors: Mapping[str, ErrorContract]
    error_at: str
    reconcile: McpLookUp
    key_meta: str
    fence_meta: str
    start_timeout_ms: int
    message_bytes_max: int
    pin: McpPin
    parameters: Sequence[Parameter]


MCP_HINTS: Mapping[str, Any] = {
    "server": McpServer,
    "tool": str,
    "listed": McpListed,
    "errors": dict[str, ErrorContract],
    "error_at": str,
    "reconcile": McpLookUp,
    "key_meta": str,
    "fence_meta": str,
    "start_timeout_ms": int,
    "message_bytes_max": int,
    "pin": McpPin,
}
"""The options that say how a tool is called; all others are those of any tool."""


def split(options: McpOptions) -> tuple[dict[str, Any], ToolOptions]:
    """What is said of the calls, and of the tool, each as its type says. Raises `SpecInvalid`."""
    given: Mapping[str, object] = {**options}
    name = str(given.get("name", "the tool"))
    check_keys(given, {"parameters", *MCP_HINTS, *SharedOptions.__annotations__}, path=f"the options of {name}")
    for needed in ("name", "description", "server"):
        if not given.get(needed):
            raise SpecInvalid(f"{name}: say its {needed}")
    mcp = {each: typed(given[each], hint, path=f"{name}: {each}") for each, hint in MCP_HINTS.items() if each in given}
    if "listed" not in given and not (given.get("tool") and given.get("input_schema") is not None):
        raise SpecInvalid(f"{name}: say the server's tool and its input_schema, or give it as it was listed")
    rest = cast(ToolOptions, {each: value for each, value in given.items() if each not in MCP_HINTS})
    return mcp, checked(rest, tool=name)
