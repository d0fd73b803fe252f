"""A server that is started gets what was declared and nothing else, and cannot fill memory."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock.core.mcp_call import StdioServer
from interlock.core.redaction import Redactor
from interlock.runners.mcp_stdio import NotStarted, Processes, StdioWay, _Lines, _Long
from tests.execution import passing


async def ran(command: tuple[str, ...], *, bytes_max: int = 10_000, **server: object) -> tuple[list[object], float]:
    """What a session with such a process hears until it says no more, and how long its end took."""
    processes, lost = Processes(Redactor()), asyncio.Event()
    way = StdioWay(StdioServer(command, (), **server), {"token": "s3cret-value"}, bytes_max)  # type: ignore[arg-type]
    heard: list[object] = []
    async with processes.open(way, lost=lost) as (read, _):
        async for each in read:
            heard.append(each.message.model_dump())  # noqa: PERF401 - an async comprehension says it no better
        began = asyncio.get_running_loop().time()
    processes.close()
    return heard, asyncio.get_running_loop().time() - began


@pytest.mark.requirement("EXEC-8")
async def test_it_gets_the_variables_that_are_declared_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER", "x")
    program = "import json, os; print(json.dumps({'jsonrpc': '2.0', 'method': 'm', 'params': dict(os.environ)}))"
    heard, _ = await ran(
        (sys.executable, "-c", program), environment={"MODE": "a"}, inherited=("PATH",), variables={"TOKEN": "token"}
    )
    shown = heard[0]
    assert isinstance(shown, dict)
    assert shown["params"].keys() - {"LC_CTYPE"} == {"PATH", "MODE", "TOKEN"}
    assert shown["params"]["TOKEN"] == "s3cret-value"


async def test_what_does_not_end_by_itself_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    program = f"""
import os, pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path({str(mark)!r}).write_text(str(os.getpid()))
os.close(1)
signal.pause()
"""
    _, seconds = await ran((sys.executable, "-c", program), inherited=("PATH",))
    assert 3 < seconds < 8
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


async def test_what_it_writes_on_stderr_never_stops_it_and_its_end_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    program = "import sys; sys.stderr.write('x' * 1_000_000 + ' the end s3cret-value'); sys.exit(1)"
    await ran((sys.executable, "-c", program), inherited=("PATH",), variables={"TOKEN": "token"})
    assert "the end" in caplog.text
    assert "s3cret-value" not in caplog.text
    assert len(caplog.text) < 10_000


@pytest.mark.requirement("REG-1")
async def test_a_command_that_is_not_there_or_changed_is_not_started(tmp_path: Path) -> None:
    from interlock.core.program import ProgramFile

    (tmp_path / "server.py").write_text("x")
    changed = StdioServer(("python3", "server.py"), (ProgramFile("server.py", "0" * 64),), folder=str(tmp_path))
    absent = StdioServer(("no-such-command-here",), ())
    processes = Processes(Redactor())
    for server, said in ((changed, "is not the file that was declared"), (absent, "cannot be started")):
        with pytest.raises(NotStarted, match=said):
            async with processes.open(StdioWay(server, {}, 1_000), lost=asyncio.Event()):
                await passing(0)
    processes.close()


def test_lines_are_cut_and_of_a_long_one_only_its_beginning_is_kept() -> None:
    lines = _Lines(100)
    assert lines.feed(b'{"a"') == []
    assert lines.feed(b": 1}\n\n{}\n") == [b'{"a": 1}', b"{}"]
    for _ in range(1_000):
        assert lines.feed(b"y" * 65_536) == []
        assert sum(map(len, lines._parts)) <= 65_536
    found = lines.feed(b"\n{}\n")
    assert isinstance(found[0], _Long)
    assert found[0].head.startswith(b"yyy")
    assert found[1:] == [b"{}"]
