"""Ways to servers are told apart by all that is declared of the server, and made of nothing that cannot be sent."""

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from dataclasses import replace

from interlock.core.http_build import Unbuildable
from interlock.core.mcp_call import StdioServer
from interlock.core.redaction import Redactor
from interlock.runners.egress import GuardedNetwork
from interlock.runners.mcp_http import HttpWays
from interlock.runners.mcp_stdio import Processes
from interlock.runners.mcp_ways import Waits, Ways, mark_of

SERVER = StdioServer(("sh",), (), variables={"TOKEN": "token"})


def test_servers_differ_by_any_part_of_them() -> None:
    others = [
        replace(SERVER, environment={"A": "b"}),
        replace(SERVER, folder="/srv"),
        replace(SERVER, inherited=("A",)),
    ]
    assert len({mark_of(each) for each in (SERVER, *others)}) == 4


@pytest.mark.requirement("EXEC-8")
async def test_a_credential_that_cannot_be_given_is_a_reason_that_does_not_show_it() -> None:
    ways = Ways(http=HttpWays(GuardedNetwork()), processes=Processes(Redactor()))
    found = ways.opening(SERVER, {"token": "s3cret\0"}, waits=Waits(1, 1))
    assert isinstance(found, Unbuildable)
    assert found.of_credential
    assert "s3cret" not in found.reason
    await ways.close()
