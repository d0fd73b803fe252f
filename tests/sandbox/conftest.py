"""Where no sandbox works at all these tests say so and are skipped; where one should work they fail."""

import asyncio
import os
import shutil

import pytest

from interlock.runners.sandbox_keeper import Keeper
from interlock.runners.sandbox_probe import LEAKS, NoSandbox, find_machine, probe


def _reason() -> str:
    found, keeper = find_machine(), Keeper()
    refused = found if isinstance(found, NoSandbox) else asyncio.run(probe(found, keeper=keeper))
    keeper.close()
    return "" if refused is None else refused.reason


@pytest.fixture(scope="session", autouse=True)
def sandbox() -> None:
    """A machine on which programs can be run in a sandbox."""
    reason = _reason()
    if reason.startswith(LEAKS) or (reason and os.environ.get("CI") and shutil.which("bwrap")):
        pytest.fail(f"bubblewrap is here, and its sandbox is none: {reason}")
    if reason:
        pytest.skip(f"No sandbox works here. {reason}")
