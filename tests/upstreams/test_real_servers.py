"""MCP servers of others, listed, declared and called through a gate, with an effect or answer that is checked."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from socket import socket
from typing import Any

import apsw
import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import McpServer, SpecInvalid, mcp_listing, mcp_tool
from interlock.core.effect import Effect
from interlock.core.tool_compile import compile_tool
from interlock.importers.mcp import load_mcp_snapshot, take_mcp_snapshot, write_mcp_snapshot
from interlock.upstream import mcp_server_listing
from tests.execution import passing
from tests.gates import ALL, code, opened
from tests.http_upstream import Exchange, upstream
from tests.upstreams.real import BROWSER, REAL, called, data, declared, gate_to
from tests.upstreams.servers import packages

pytestmark = [pytest.mark.requirement("TOOL-6"), pytest.mark.timeout(120)]
slow = pytest.mark.slow


def repository(folder: Path) -> Path:
    """A repository with one commit."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed: the server that reads repositories needs it.")
    git(folder, "init", "--quiet")
    (folder / "a.txt").write_text("a")
    git(folder, "add", "a.txt")
    git(folder, "commit", "--quiet", "--message", "The first of all")
    return folder


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@slow
@pytest.mark.parametrize("name", REAL)
async def test_every_tool_of_a_server_is_listed_and_can_be_declared(name: str, tmp_path: Path) -> None:
    folder = repository(tmp_path) if name == "git" else tmp_path
    tools = await declared(REAL[name].server(folder))
    assert len({each.name for each in tools}) == len(tools) == REAL[name].tools
    for each in tools:
        compile_tool(each.spec())


@slow
@pytest.mark.requirement("REG-9")
@pytest.mark.parametrize("name", REAL)
async def test_every_tool_of_a_server_is_imported_by_a_snapshot_and_called_as_it_was_reviewed(
    name: str, tmp_path: Path
) -> None:
    folder = repository(tmp_path) if name == "git" else tmp_path
    server = REAL[name].server(folder)
    taken = take_mcp_snapshot(await mcp_server_listing(server, timeout_s=60), server=server, owner="eng")
    assert len(taken.tools) + len(taken.not_tools) == REAL[name].tools
    path = tmp_path / "server.snapshot.yaml"
    decided = {key: replace(each, allow=True, effect=Effect.READ) for key, each in taken.tools.items()}
    path.write_text(write_mcp_snapshot(replace(taken, tools=decided)))
    found = load_mcp_snapshot(path)
    assert (len(found.tools), found.refused) == (len(taken.tools), ())
    tool, given = REAL[name].reads
    known = {each.code.tool: each.name for each in found.tools}
    arguments = {key: str(folder) if key == "repo_path" else each for key, each in given.items()}
    async with opened(":memory:", found.tools, ALL, deadline_ms=60_000) as gate:
        seen = await called(gate, known[tool], **({"url": "http://127.0.0.1:1/"} if name == "fetch" else arguments))
    assert code(seen) == ("TOOL_ERROR" if name == "fetch" else "ok")


@slow
async def test_the_everything_server_is_called_over_http_survives_its_end_and_is_refused_over_older_transports() -> (
    None
):
    script = str(packages() / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js")
    async with listening(script, "streamableHttp") as (port, process):
        server = McpServer(url=f"http://127.0.0.1:{port}/mcp")
        tools = [
            mcp_tool(name=each.name, description="Do it.", effect="read", server=server, listed=each)
            for each in await mcp_listing(server, egress_allow=["127.0.0.1"])
        ]
        assert len(tools) == REAL["everything"].tools
        async with opened(":memory:", tools, ALL, egress_allow=["127.0.0.1"]) as gate:
            assert await data(gate, "get-sum", a=1, b=2) == "The sum of 1 and 2 is 3."
            assert "Steps: 5" in await data(gate, "trigger-long-running-operation", duration=1, steps=5)
            process.kill()
            await process.wait()
            async with listening(script, "streamableHttp", port=port):
                assert await data(gate, "get-sum", a=2, b=2) == "The sum of 2 and 2 is 4."
    async with listening(script, "sse") as (port, _):
        with pytest.raises(SpecInvalid, match="HTTP with SSE, is not spoken here"):
            await mcp_listing(McpServer(url=f"http://127.0.0.1:{port}/sse"), egress_allow=["127.0.0.1"])


@asynccontextmanager
async def listening(
    script: str, transport: str, *, port: int = 0
) -> AsyncIterator[tuple[int, asyncio.subprocess.Process]]:
    """A server in JavaScript on a port of loopback, once it takes connections there."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = port or free.getsockname()[1]
    nowhere = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        "node", script, transport, env={**os.environ, "PORT": str(port)}, stdout=nowhere, stderr=nowhere
    )
    try:
        while not await answers(port):
            assert process.returncode is None
            await passing(0.05)
        yield port, process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def test_the_time_server_tells_what_time_it_is_elsewhere(tmp_path: Path) -> None:
    async with gate_to(REAL["time"].server(tmp_path)) as gate:
        names, arguments = REAL["time"].acts
        found = await data(gate, names, **arguments)
        assert found["target"]["datetime"].endswith("T21:00:00+09:00")
        assert found["time_difference"] == "+9.0h"
        assert code(await called(gate, "convert_time", **{**arguments, "time": "25:00"})) == "TOOL_ERROR"


@slow
async def test_the_sqlite_server_of_the_older_era_writes_a_row_and_reads_it_again(tmp_path: Path) -> None:
    async with gate_to(REAL["sqlite"].server(tmp_path), "create_table", "write_query") as gate:
        await data(gate, "create_table", query="CREATE TABLE notes (text)")
        insert = {"query": "INSERT INTO notes VALUES ('naïve')"}
        assert await data(gate, "write_query", **insert) == "[{'affected_rows': 1}]"
        assert (await called(gate, "write_query", **insert)).replayed is True
        assert await data(gate, "read_query", query="SELECT text FROM notes") == "[{'text': 'naïve'}]"
    kept = apsw.Connection(str(tmp_path / "one.db"))
    assert kept.execute("SELECT text FROM notes").fetchall() == [("naïve",)]
    kept.close()


@slow
async def test_the_filesystem_server_writes_within_its_folder_alone(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    async with gate_to(REAL["filesystem"].server(inside), "write_file") as gate:
        await data(gate, "write_file", path=str(inside / "a.txt"), content="天\n")
        assert (inside / "a.txt").read_text() == "天\n"
        assert await data(gate, "read_text_file", path=str(inside / "a.txt")) == {"content": "天\n"}
        outside = await called(gate, "write_file", path=str(tmp_path / "b.txt"), content="x")
    assert code(outside) == "OUTCOME_UNKNOWN"  # that its tool failed proves nothing, where the contract says nothing
    assert not (tmp_path / "b.txt").exists()


async def test_the_memory_server_remembers_across_its_own_end(tmp_path: Path) -> None:
    entity = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
    async with gate_to(REAL["memory"].server(tmp_path), "create_entities") as gate:
        await data(gate, "create_entities", entities=[entity])
    async with gate_to(REAL["memory"].server(tmp_path)) as gate:
        assert (await data(gate, "read_graph"))["entities"] == [entity]
        assert (await data(gate, "search_nodes", query="nobody"))["entities"] == []


@slow
async def test_the_git_server_reads_and_makes_commits(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    where = {"repo_path": str(folder)}
    async with gate_to(REAL["git"].server(folder), "git_add", "git_commit") as gate:
        assert "The first of all" in str(await data(gate, "git_log", **where))
        (folder / "b.txt").write_text("b")
        await data(gate, "git_add", files=["b.txt"], **where)
        await data(gate, "git_commit", message="The second", **where)
    assert git(folder, "log", "--format=%s").split("\n")[:2] == ["The second", "The first of all"]


@slow
async def test_the_fetch_server_fetches_by_a_network_of_its_own(tmp_path: Path) -> None:
    async def page(exchange: Exchange) -> None:
        await exchange.answer(200, b"<html><body><h1>Hello</h1><p>there.</p></body></html>", content_type="text/html")

    async with upstream(page) as site, gate_to(REAL["fetch"].server(tmp_path)) as gate:
        found = await data(gate, "fetch", url=f"{site.origin}/page", raw=True)
        assert "<h1>Hello</h1>" in str(found)
        assert [each.target for each in site.received] == ["/page"]
        nowhere = await called(gate, "fetch", url="http://127.0.0.1:1/")
    assert code(nowhere) == "TOOL_ERROR"


@slow
async def test_the_everything_server_answers_in_every_kind_of_content(tmp_path: Path) -> None:
    async with gate_to(REAL["everything"].server(tmp_path)) as gate:
        assert await data(gate, "echo", message="hé") == "Echo: hé"
        assert await data(gate, "get-sum", a=1, b=2) == "The sum of 1 and 2 is 3."
        picture = await data(gate, "get-tiny-image")
        assert picture[1]["media_type"] == "image/png"
        assert len(await data(gate, "get-resource-links", count=3)) == 4
        weather = await data(gate, "get-structured-content", location="Chicago")
        assert weather.keys() == {"conditions", "humidity", "temperature"}
        long = await data(gate, "trigger-long-running-operation", duration=1, steps=50)
        assert "Steps: 50" in long
        assert code(await called(gate, "get-sum", a=1, b="x")) == "TOOL_ARGUMENT_INVALID"


@slow
async def test_the_everything_server_answers_others_after_a_call_was_cancelled(tmp_path: Path) -> None:
    async with gate_to(REAL["everything"].server(tmp_path)) as gate:
        assert await data(gate, "echo", message="first") == "Echo: first"
        long = asyncio.ensure_future(called(gate, "trigger-long-running-operation", duration=60, steps=60))
        done, _ = await asyncio.wait((long,), timeout=0.3)
        assert not done
        long.cancel()
        await asyncio.wait((long,))
        assert long.cancelled()
        assert await data(gate, "echo", message="second") == "Echo: second"


@slow
async def test_the_thinking_server_counts_thoughts_within_its_session(tmp_path: Path) -> None:
    thought = {"thought": "One thing.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": True}
    async with gate_to(REAL["sequential-thinking"].server(tmp_path)) as gate:
        lengths = [(await data(gate, "sequentialthinking", **thought))["thoughtHistoryLength"] for _ in range(3)]
    assert lengths == [1, 2, 3]


@slow
@pytest.mark.skipif(not Path(BROWSER[-1]).exists(), reason="Debian's chromium is not installed: no page is opened.")
async def test_the_browser_server_opens_a_page_and_tells_what_is_on_it(tmp_path: Path) -> None:
    async def page(exchange: Exchange) -> None:
        await exchange.answer(200, b"<title>Hello</title><h1>there</h1>", content_type="text/html")

    async with upstream(page) as site, gate_to(REAL["playwright"].server(tmp_path), "browser_navigate") as gate:
        told: Any = await data(gate, "browser_navigate", url=f"{site.origin}/page")
        assert "Page Title: Hello" in told
        assert 'heading "there"' in await data(gate, "browser_snapshot")
        await data(gate, "browser_close")
    assert "/page" in [each.target for each in site.received]
