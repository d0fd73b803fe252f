"""The declared call of an MCP tool names its server, and is another one with another server."""

from dataclasses import replace

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.http_template import Origin, Template
from interlock.core.mcp_call import HttpServer, McpCode, StdioServer, read_end
from interlock.core.program import ProgramFile
from interlock.core.tool import ErrorContract

FAR = HttpServer(Template("POST", Origin("https", "mcp.example.com", 443), "/mcp"))
NEAR = StdioServer(("python3", "server.py"), (ProgramFile("server.py", "a" * 64),), folder="/srv")


def test_it_says_for_people_which_tool_of_which_server_is_called() -> None:
    assert McpCode(FAR, "find").target == "CALL https://mcp.example.com/mcp find"
    assert McpCode(NEAR, "find").target.startswith("CALL stdio://")
    assert McpCode(NEAR, "find").target.endswith("/python3 find")


@pytest.mark.requirement("REG-1")
def test_another_origin_command_or_file_is_another_tool_and_another_folder_is_not() -> None:
    code = McpCode(NEAR, "find")
    changed = replace(NEAR, files=(ProgramFile("server.py", "b" * 64),))
    others = [
        McpCode(FAR, "find"),
        McpCode(changed, "find"),
        McpCode(replace(NEAR, command=("python3", "-O", "server.py")), "find"),
        McpCode(NEAR, "lose"),
    ]
    assert len({code.fingerprint, *[each.fingerprint for each in others]}) == 5
    assert replace(code, server=replace(NEAR, folder="/elsewhere")).fingerprint == code.fingerprint


def test_what_an_end_means_is_found_by_its_name() -> None:
    code = McpCode(FAR, "find", (("isError", ErrorContract("BROKEN")),))
    assert code.error("isError") == ErrorContract("BROKEN")
    assert code.error("-32050") is None
    for wrong in ("", " isError", "x" * 300):
        with pytest.raises(SpecInvalid):
            read_end(wrong)
