"""A server is an address or a command, with nothing in it that could be somebody else's."""

from pathlib import Path
from typing import Any

import pytest

from interlock import Credential, SpecInvalid
from interlock.core.mcp_call import HttpServer, StdioServer
from interlock.declare.mcp_server import McpServer, server_of

URL = "https://mcp.example.com/mcp"


def test_an_address_keeps_its_credentials_to_its_origin() -> None:
    found = server_of(McpServer(url=URL, headers={"X-App": "a"}, credentials=(Credential("token"),)))
    assert isinstance(found, HttpServer)
    assert (found.identity, found.secrets) == (URL, ("token",))


@pytest.mark.requirement("REG-1")
def test_the_scripts_of_a_command_are_part_of_it_and_where_there_are_none_its_executable_is(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("x")
    (tmp_path / "data.db").write_text("x")
    found = server_of(McpServer(command=("python3", "server.py", "data.db"), folder=str(tmp_path)))
    assert isinstance(found, StdioServer)
    assert [each.place for each in found.files] == ["server.py"]
    more = server_of(McpServer(command=("python3", "server.py"), folder=str(tmp_path), files=("data.db",)))
    assert isinstance(more, StdioServer)
    assert [each.place for each in more.files] == ["server.py", "data.db"]
    bare = server_of(McpServer(command=("sh", "-c", "true")))
    assert isinstance(bare, StdioServer)
    assert bare.files[0].place.endswith("/sh")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "and not both"),
        ({"url": URL, "command": ("sh",)}, "and not both"),
        ({"url": "ftp://x/y"}, "http://"),
        ({"url": f"{URL}/{{name}}"}, "must stand once"),
        ({"url": URL, "headers": {"Mcp-Session-Id": "x"}}, "protocol's own"),
        ({"url": URL, "credentials": (Credential("t", "query", "k"),)}, "bearer, basic"),
        ({"url": URL, "environment": {"A": "b"}}, "those of a command"),
        ({"command": ("sh",), "credentials": (Credential("t"),)}, "secret_environment"),
        ({"command": ("no-such-command-here",)}, "no command"),
        ({"command": ("./none",)}, "no command"),
        ({"command": ("sh",), "environment": {"A B": "c"}}, "no environment variable"),
        ({"command": ("sh",), "environment": {"A": "b"}, "secret_environment": {"A": "c"}}, "a value and a secret"),
        ({"command": ("sh", "a\0b")}, "no system takes"),
        ({"command": ("sh",), "files": ("none.txt",)}, "cannot be read"),
    ],
)
def test_what_could_not_be_meant_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecInvalid, match=said):
        server_of(McpServer(**given))
