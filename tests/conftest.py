"""Fixtures that every test may ask for: the asyncio backend, cases of trouble, and what others wrote."""

import gc
import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.postgres import own_server, postgres_stores, postgres_url

__all__ = ["own_server", "postgres_stores", "postgres_url"]

ROOT = Path(__file__).resolve().parents[1]

EXAMPLES = int(os.environ.get("INTERLOCK_EXAMPLES", "50"))
"""How many examples a property is tried with that does not say so itself."""

# How long an example takes says how busy the machine is; tests of speed measure for themselves.
settings.register_profile(
    "interlock", deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("interlock")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays until the end: nothing is gained by looking through it for what is not used any more.

    What tests leave is looked for less often than by default: a process of tests has memory enough.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)


@pytest.fixture
def anyio_backend() -> str:
    """Interlock is written for asyncio; anyio's plugin runs async tests and async fixtures on it."""
    return "asyncio"


@pytest.fixture(scope="session")
def trouble_case() -> Callable[[str], Mapping[str, Any]]:
    """`trouble_case("ARG-01")["input"]`: one case of what went wrong for others, by its id."""
    cases = _trouble_cases(_folder("INTERLOCK_TROUBLE", default="trouble", holds="cases.jsonl"))
    return cases.__getitem__


@pytest.fixture(scope="session")
def wire_corpus() -> Path:
    """The folder with recorded provider traffic and its expected readings."""
    return _folder("INTERLOCK_WIRE_CORPUS", default="wire", holds="index.json")


@pytest.fixture(scope="session")
def openapi_documents() -> Path:
    """The folder with OpenAPI documents of others."""
    return _folder("INTERLOCK_OPENAPI", default="openapi", holds="petstore-3.1.json")


@pytest.fixture(scope="session")
def mcp_tool_lists() -> Path:
    """The folder with what MCP servers of others list, and what some of them listed before."""
    return _folder("INTERLOCK_MCP_LISTS", default="mcp-tool-lists", holds="time.json")


@pytest.fixture(scope="session")
def retrieval_corpus() -> Path:
    """The folder with the words of 199 tools, and queries with the tools that answer them."""
    return _folder("INTERLOCK_RETRIEVAL", default="retrieval", holds="metatool/tools.json") / "metatool"


def _folder(variable: str, *, default: str, holds: str) -> Path:
    folder = Path(os.environ.get(variable) or ROOT.parent / "shared" / default)
    if not (folder / holds).exists():
        pytest.skip(f"{variable} names no folder with {holds}: set it to run this test ({folder}).")
    return folder


@cache
def _trouble_cases(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, filter(None, lines))}
