"""MCP servers of others, killed and started again: the next call works, one on its way is told of honestly."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import Gate, McpServer
from interlock.core.observation import Observation
from tests.execution import passing
from tests.gates import code
from tests.http_upstream import Exchange, Upstream, upstream
from tests.upstreams.real import REAL, Real, called, gate_to
from tests.upstreams.servers import processes
from tests.upstreams.test_real_servers import git, repository
from tests.walk.test_mcp_tools import is_alive

pytestmark = [pytest.mark.requirement("EXEC-5", "IDEM-3"), pytest.mark.timeout(120)]
slow = pytest.mark.slow

EACH = [pytest.param(name, marks=() if name == "memory" else slow) for name in REAL]
TURNS = 200
"""So many turns of the loop after a call was proposed it stands in the pipe of a server that does not read it."""


@dataclass
class Place:
    """Where a server works: its folder, and a site that it may fetch pages of."""

    folder: Path
    site: Upstream

    def arguments(self, given: Mapping[str, Any], *, of: str) -> dict[str, Any]:
        """The arguments of a call, with what is known only here."""
        changed = {"repo_path": str(self.folder), "path": str(self.folder / "one")}
        if of == "fetch":
            return {"url": f"{self.site.origin}/page"}
        return {name: changed.get(name, each) for name, each in given.items()}


@asynccontextmanager
async def place(name: str, folder: Path) -> AsyncIterator[tuple[Place, McpServer]]:
    async def page(exchange: Exchange) -> None:
        await exchange.answer(200, b"<p>Hello there.</p>", content_type="text/html")

    if name == "git":
        repository(folder)
    async with upstream(page) as site:
        yield Place(folder, site), REAL[name].server(folder)


@slow
@pytest.mark.parametrize("name", REAL)
async def test_a_server_that_was_killed_or_whose_gate_ended_is_there_again_for_the_next_call(
    name: str, tmp_path: Path
) -> None:
    async with place(name, tmp_path) as (where, server):
        arguments = where.arguments(REAL[name].reads[1], of=name)
        seen = [pid for _ in range(2) for pid in await killed_twice(server, REAL[name].reads[0], arguments)]
    assert len({*seen}) == 4


async def killed_twice(server: McpServer, tool: str, arguments: Mapping[str, Any]) -> list[int]:
    """Call it through a gate and kill it, twice: the processes that it was."""
    seen: list[int] = []
    async with gate_to(server) as gate:
        for _ in range(2):
            assert code(await called(gate, tool, **arguments)) == "ok"
            (pid,) = processes(server)
            seen.append(pid)
            os.kill(pid, signal.SIGKILL)
            await gone(server)
    assert processes(server) == []
    return seen


@pytest.mark.parametrize("name", EACH)
async def test_a_read_on_its_way_to_a_server_that_is_killed_is_made_again(name: str, tmp_path: Path) -> None:
    async with place(name, tmp_path) as (where, server), gate_to(server) as gate:
        seen = await killed_on_its_way(gate, server, REAL[name].reads, where=where, of=name)
        assert code(seen) == "ok"


@pytest.mark.parametrize("name", EACH)
async def test_an_effect_on_its_way_to_a_server_that_is_killed_is_unknown_and_never_made_twice(
    name: str, tmp_path: Path
) -> None:
    real: Real = REAL[name]
    tool, given = real.acts
    async with place(name, tmp_path) as (where, server), gate_to(server, tool) as gate:
        seen = await killed_on_its_way(gate, server, real.acts, where=where, of=name)
        assert code(seen) == "OUTCOME_UNKNOWN"
        again = await called(gate, tool, **where.arguments(given, of=name))
        assert code(again) == "OUTCOME_UNKNOWN"
        assert again.operation_id == seen.operation_id
        assert processes(server) == []  # nothing was even started to send it again
        other = await called(gate, tool, task="another", **where.arguments(given, of=name))
        assert code(other) == "ok"
        assert [each.target for each in where.site.received] == (["/page"] if name == "fetch" else [])


async def killed_on_its_way(
    gate: Gate, server: McpServer, call: tuple[str, Mapping[str, Any]], *, where: Place, of: str
) -> Observation:
    """Let the server stand still, send it a call, and kill it before it reads that."""
    warm = await called(gate, REAL[of].reads[0], task="before", **where.arguments(REAL[of].reads[1], of=of))
    if of != "fetch":  # its one tool cannot be a read and an effect at once
        assert code(warm) == "ok"
    where.site.received.clear()
    (pid,) = processes(server)
    os.kill(pid, signal.SIGSTOP)
    work = asyncio.ensure_future(called(gate, call[0], **where.arguments(call[1], of=of)))
    for _ in range(TURNS):
        await passing(0)
    assert not work.done()
    os.kill(pid, signal.SIGKILL)
    return await work


async def gone(server: McpServer) -> None:
    while processes(server):
        await passing(0.02)


@slow
async def test_a_commit_whose_server_is_killed_before_it_answers_is_there_once_and_nothing_runs_on(
    tmp_path: Path,
) -> None:
    folder, mark = repository(tmp_path), tmp_path / ".git" / "hook.pid"
    hook = folder / ".git" / "hooks" / "post-commit"
    hook.write_text(f"#!/bin/sh\necho $$ > {mark}.new && mv {mark}.new {mark}\nexec sleep 600\n")
    hook.chmod(0o755)
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.com")
    (folder / "b.txt").write_text("b")
    git(folder, "add", "b.txt")
    server = REAL["git"].server(folder)
    async with gate_to(server, "git_commit") as gate:
        commit = {"repo_path": str(folder), "message": "The second"}
        work = asyncio.ensure_future(called(gate, "git_commit", **commit))
        while not mark.exists():
            await passing(0.02)
        (pid,) = processes(server)
        os.kill(pid, signal.SIGKILL)
        assert code(await work) == "OUTCOME_UNKNOWN"
        assert code(await called(gate, "git_commit", **commit)) == "OUTCOME_UNKNOWN"
    assert git(folder, "log", "--format=%s").splitlines() == ["The second", "The first of all"]
    assert not is_alive(int(mark.read_text()))


@slow
async def test_a_fetch_whose_server_is_killed_is_made_again(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def page(exchange: Exchange) -> None:
        if len(exchange.upstream.received) == 1:
            asked.set()
            await asyncio.Event().wait()
        await exchange.answer(200, b"<p>Hello there.</p>", content_type="text/html")

    server = REAL["fetch"].server(tmp_path)
    async with upstream(page) as site, gate_to(server) as gate:
        work = asyncio.ensure_future(called(gate, "fetch", url=f"{site.origin}/page"))
        await asked.wait()
        for pid in processes(server):
            os.kill(pid, signal.SIGKILL)
        assert code(await work) == "ok"
        assert len(site.received) == 2
