"""Where no sandbox works at all these tests say so and are skipped; where one should work they fail."""

import asyncio
import os
import shutil

import pytest

from interlock.runners.sandbox_probe import NoSandbox, find_machine, probe


def _reason() -> str:
    found = find_machine()
    refused = found if isinstance(found, NoSandbox) else asyncio.run(probe(found))
    return "" if refused is None else refused.reason


@pytest.fixture(scope="session", autouse=True)
def sandbox() -> None:
    """A machine on which programs can be run in a sandbox."""
    reason = _reason()
    if reason and os.environ.get("CI") and shutil.which("bwrap"):
        pytest.fail(f"bubblewrap is here and makes no sandbox: {reason}")
    if reason:
        pytest.skip(f"No sandbox works here. {reason}")
