"""MCP servers of others, as `scripts/upstreams` installed them: how each is started, and which processes it is."""

import os
import shutil
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from interlock import McpServer

HERE = Path(__file__).resolve().parent
LISTS = ("requirements.txt", "requirements-sqlite.txt", "package.json", "package-lock.json")


@cache
def installed() -> Path:
    """Where they are, by what is pinned of them today."""
    pinned = sha256(b"".join((HERE / name).read_bytes() for name in LISTS)).hexdigest()[:12]
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "interlock" / f"upstreams-{pinned}"


def packages() -> Path:
    """The folder with the packages of npm. Skips the test that asks where they are not installed."""
    if shutil.which("node") is None or not (installed() / "node.stamp").exists():
        pytest.skip("the packages of tests/upstreams/package.json are not installed: scripts/upstreams does it.")
    return installed() / "node_modules"


def of_python(name: str, *arguments: str, **server: Any) -> McpServer:
    """A server in Python. Skips the test that asks where it is not installed."""
    part, venv = ("sqlite", "venv-sqlite") if name == "mcp-server-sqlite" else ("python", "venv")
    if not (installed() / f"{part}.stamp").exists():
        pytest.skip(f"{name}, as tests/upstreams pins it, is not installed: scripts/upstreams does it.")
    return McpServer(command=(str(installed() / venv / "bin" / name), *arguments), **server)


def of_node(script: str, *arguments: str, **server: Any) -> McpServer:
    """A server of `package.json`, by the script that it is."""
    return McpServer(command=("node", str(packages() / script), *arguments), **server)


def processes(server: McpServer) -> list[int]:
    """Those that this process started as this server and that are at work, the oldest first."""
    return sorted(pid for pid in _children(os.getpid()) if _is(pid, server))


def _children(parent: int) -> Iterator[int]:
    for file in Path(f"/proc/{parent}/task").glob("*/children"):
        yield from map(int, file.read_text().split())


def _is(pid: int, server: McpServer) -> bool:
    try:
        said = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    name = next(each for each in server.command if each.startswith("/"))
    return state != "Z" and name in said
