"""What is sent and what is said, for each way that an MCP server fails and each class of effect: a golden table."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import ErrorContract, Gate, Host, McpServer, ToolCall
from interlock.core.observation import Observation
from tests.gates import ALICE, ALL, opened
from tests.golden import check_golden
from tests.http_upstream import Names
from tests.mcp_upstream import Upstream, declared, over_http, over_stdio

EFFECTS = ("read", "idempotent_write", "write", "destructive")
DECLARED = {
    "NOT_SOLD": ErrorContract("NOT_SOLD", nothing_happened=True),
    "LOCKED": ErrorContract("LOCKED", retryable=True, nothing_happened=True),
    "-31050": ErrorContract("BUSY", retryable=True, nothing_happened=True),
}

BEHAVIOURS: Mapping[str, str] = {
    "does it": "does_it",
    "dies before it did it": "dies_before",
    "dies while it does it": "dies_during",
    "dies after it did it": "dies_after",
    "dies once, then does it": "dies_once",
    "never answers": "hangs_after",
    "answers what is no message": "answers_garbage",
    "prints what is no message, then its answer": "prints_garbage_first",
    "prints no message without end": "floods",
    "answers 5 MB": "answers_5_mb",
    "answers under another id": "answers_another",
    "answers what is no result": "answers_no_result",
    "answers twice": "answers_twice",
    "asks for a model": "asks_a_model",
    "asks for more input": "needs_input",
    "says that its tool failed": "fails",
    "says that its tool failed, after it did it": "fails_after",
    "says that its tool failed, declared: nothing happened": "fails_declared",
    "says that its tool failed, declared: passes, nothing happened": "fails_for_a_while",
    "answers that the arguments are invalid": "bad_params",
    "answers that the arguments are invalid, after it did it": "bad_params_after",
    "answers that the arguments are invalid: it takes others by now": "changed",
    "has no such tool any more": "renamed",
    "breaks down after it did it": "breaks_down_after",
    "answers -31050, declared: passes, nothing happened": "own_code",
}
RAW = {"prints_garbage_first", "floods"}
"""What is possible on stdio only: over HTTP one answer belongs to one request."""

OLD = {"does_it", "dies_after", "hangs_after", "asks_a_model", "fails_after", "renamed"}
"""What is tried with servers of the older era too."""

SLOW = {"hangs_after", "answers_another", "answers_garbage"}
SLOW_MS = 300


def tools_of(server: McpServer) -> list[Any]:
    return [
        declared(
            server,
            tool,
            effect,
            name=f"{tool}-{effect}",
            errors=DECLARED,
            error_at="/code",
            timeout_ms=SLOW_MS if tool in SLOW else 20_000,
        )
        for tool in BEHAVIOURS.values()
        for effect in EFFECTS
    ]


@asynccontextmanager
async def gate_to(server: McpServer, host: Host | None = None) -> AsyncIterator[Gate]:
    settings = {"egress_allow": ["127.0.0.1"], "deadline_ms": 60_000}
    async with opened(":memory:", tools_of(server), ALL, host=host, **settings) as gate:
        yield gate


def row(effect: str, seen: Observation, *, sent: int, done: int) -> str:
    code = "" if seen.error is None else seen.error.code.value
    again = "may be proposed again" if seen.retryable else ""
    return f"  {effect:<18}sent {sent}  done {done}  {seen.status.value:<9}{code:<18}{again}".rstrip()


async def table(found: Upstream, tools: Iterable[str]) -> list[str]:
    """Each behaviour, with a server that is there, and that did well before: else a breaker would be in the way."""
    lines: list[str] = []
    async with gate_to(found.server) as gate:
        for name, tool in BEHAVIOURS.items():
            if tool not in tools:
                continue
            lines.append(f"\nthe server {name}")
            for effect in EFFECTS:
                await gate.call(ToolCall("c", "does_it-read", {"thing": "before"}), principal=ALICE, task="t")
                call = ToolCall(effect, f"{tool}-{effect}", {"thing": effect})
                seen = await gate.call(call, principal=ALICE, task="t")
                sent, done = found.lines("sent", tool, effect), found.lines("done", tool, effect)
                assert effect not in ("write", "destructive") or sent <= 1
                lines.append(row(effect, seen, sent=sent, done=done))
    return lines


async def unreached(url: str) -> AsyncIterator[str]:
    """What never gets as far as a call: in every class of effect it is known that nothing happened."""
    private = {"the name leads into a private network": ["10.0.0.1"], "there is no such name": []}
    for name, addresses in private.items():
        yield f"\n{name}"
        host = Host(resolver=Names(addresses))
        async with gate_to(McpServer(url=url), host) as gate:
            for effect in EFFECTS:
                call = ToolCall(effect, f"does_it-{effect}", {"thing": effect})
                yield row(effect, await gate.call(call, principal=ALICE, task="t"), sent=0, done=0)


async def unstarted(folder: Path) -> AsyncIterator[str]:
    """The same of a server that cannot be started, or ends before it says anything."""
    script = folder / "server.py"
    script.write_text("import sys; sys.exit(3)")
    server = McpServer(command=("python3", "server.py"), folder=str(folder))
    for name in ("the server ends at its start", "the server is not the one that was declared"):
        yield f"\n{name}"
        async with gate_to(server) as gate:
            if "not the one" in name:
                script.write_text("import sys; sys.exit(4)")
            for effect in EFFECTS:
                call = ToolCall(effect, f"does_it-{effect}", {"thing": effect})
                yield row(effect, await gate.call(call, principal=ALICE, task="t"), sent=0, done=0)


@pytest.mark.timeout(120)
@pytest.mark.requirement("EXEC-2", "TOOL-6", "IDEM-3")
async def test_what_is_sent_and_said_over_http_is_as_the_golden_table_says(tmp_path: Path) -> None:
    tools = {*BEHAVIOURS.values()}
    async with over_http(tmp_path) as found:
        lines = ["OVER HTTP", *await table(found, tools - RAW)]
    (tmp_path / "old").mkdir()
    async with over_http(tmp_path / "old", "old") as found:
        lines += ["\n\nOVER HTTP, OLDER ERA", *await table(found, {*OLD, "dies_once", "bad_params_after"})]
    lines += ["\n\nBEFORE ANY CALL", *[line async for line in unreached("https://mcp.example.com/mcp")]]
    lines += [line async for line in unstarted(tmp_path)]
    check_golden("mcp_attempts.txt", "\n".join(lines) + "\n")


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.requirement("EXEC-2", "TOOL-6", "IDEM-3")
async def test_what_is_sent_and_said_over_stdio_is_as_the_golden_table_says(tmp_path: Path) -> None:
    lines = ["OVER STDIO", *await table(over_stdio(tmp_path), {*BEHAVIOURS.values()})]
    (tmp_path / "old").mkdir()
    lines += ["\n\nOVER STDIO, OLDER ERA", *await table(over_stdio(tmp_path / "old", "old"), OLD)]
    check_golden("mcp_attempts_stdio.txt", "\n".join(lines) + "\n")
