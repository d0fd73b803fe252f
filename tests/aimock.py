"""Starts @copilotkit/aimock, a scripted server that speaks as five providers do, or says why it is not there.

`scripts/setup` installs it in the version of `tests/node/package.json` into a cache folder outside of the project.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest

PINNED = Path(__file__).resolve().parent / "node" / "package.json"
STOP_TIMEOUT_S = 5.0
Script = Mapping[str, Any]


@cache
def command() -> tuple[str, ...]:
    """How the server is started. Skips the test that asks where node or the package is missing."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: scripts/setup needs it to install the scripted server aimock.")
    version = json.loads(PINNED.read_text(encoding="utf-8"))["dependencies"]["@copilotkit/aimock"]
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    program = caches / "interlock" / f"aimock-{version}" / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
    if not program.exists():
        pytest.skip(f"aimock {version} is not installed: scripts/setup does it where npm reaches its registry.")
    return node, str(program)


@contextmanager
def scripted(fixtures: Sequence[Script], *, folder: Path) -> Iterator[str]:
    """The address of a server that answers by these fixtures and by nothing else, for as long as the block lasts."""
    script = folder / "fixtures.json"
    script.write_text(json.dumps({"fixtures": list(fixtures)}), encoding="utf-8")
    asked = [*command(), "-p", "0", "-f", str(script), "--strict", "--log-level", "info"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()


def journal(origin: str) -> list[dict[str, Any]]:
    """The requests that the server got, each as it reads them: in the form of Chat Completions."""
    response = httpx.get(f"{origin}/__aimock/journal", trust_env=False)
    found: list[dict[str, Any]] = response.json()
    return found


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if "listening on " in line:
            return line.rpartition("listening on ")[2].strip()
    pytest.skip(f"aimock did not start (it needs node 20 or newer): {''.join(said)[-500:]}")
