"""The runner of MCP tools calls what was declared, once, and says how far it got."""

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock.core.errors import SpecInvalid
from interlock.core.http_address import read_allowed
from interlock.core.outcome import Failed
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.declare.mcp_server import McpServer
from interlock.runners.egress import GuardedNetwork
from interlock.runners.mcp import McpRunner
from interlock.runners.mcp_http import HttpWays
from interlock.runners.mcp_stdio import Processes
from interlock.runners.mcp_ways import Ways
from interlock.runners.onlooker import Telling
from interlock.runtime.bounded import Overdue, bounded
from tests.execution import invocation_of
from tests.http_upstream import Names
from tests.mcp_upstream import declared, over_http

FAR = McpServer(url="https://mcp.example.com/mcp")


def runner(resolver: Names | None = None) -> McpRunner:
    network = GuardedNetwork(resolver=resolver, allowed=read_allowed(["127.0.0.1"]))
    return McpRunner(
        ways=Ways(http=HttpWays(network), processes=Processes(Redactor())), telling=Telling(None, Redactor())
    )


async def test_only_what_is_bound_is_called_and_only_by_its_own_code() -> None:
    tool, other = declared(FAR), declared(FAR, "other")
    made = runner()
    found = (await made.run(invocation_of(tool, {"thing": "7"}))).outcome
    assert isinstance(found, Failed)
    assert found.nothing_happened
    for code in (other.code, object()):
        with pytest.raises(SpecInvalid, match="does_it: a tool of the kind mcp"):
            made.bind(tool.spec(), code=code)
    await made.close()


async def test_a_tool_without_look_up_cannot_tell() -> None:
    tool, made = declared(FAR), runner()
    made.bind(tool.spec(), code=tool.code)
    invocation = invocation_of(tool, {"thing": "7"})
    assert await made.reconcile(invocation) is None
    assert await made.precondition(invocation) is None
    assert await made.resolve(invocation.operation) is None
    await made.close()


@pytest.mark.requirement("EXEC-1", "EXEC-2")
async def test_a_deadline_before_a_session_is_there_proves_that_nothing_happened() -> None:
    class Hanging(Names):
        async def resolve(self, host: str, port: int) -> list[str]:
            await asyncio.Event().wait()
            return []

    tool, made = declared(FAR), runner(Hanging([]))
    made.bind(tool.spec(), code=tool.code)
    invocation = invocation_of(tool, {"thing": "7"}, within_s=0.05)
    done = await bounded(made.run(invocation), until_s=invocation.deadline_s)
    assert not isinstance(done, Overdue)
    assert isinstance(done.outcome, Failed)
    assert (done.outcome.code, done.outcome.nothing_happened) == (Code.TOOL_UNAVAILABLE, True)
    await made.close()


@pytest.mark.requirement("EXEC-1", "EXEC-2")
async def test_a_deadline_after_it_proves_nothing(tmp_path: Path) -> None:
    async with over_http(tmp_path) as found:
        made = runner()
        warm, tool = declared(found.server), declared(found.server, "hangs_after")
        for each in (warm, tool):
            made.bind(each.spec(), code=each.code)
        await made.run(invocation_of(warm, {"thing": "7"}))
        invocation = invocation_of(tool, {"thing": "7"}, within_s=0.5)
        done = await bounded(made.run(invocation), until_s=invocation.deadline_s)
        assert not isinstance(done, Overdue)
        assert isinstance(done.outcome, Failed)
        assert (done.outcome.code, done.outcome.nothing_happened) == (Code.TOOL_TIMEOUT, False)
        await made.close()
