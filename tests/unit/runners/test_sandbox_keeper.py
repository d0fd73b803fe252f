"""What was being started ends with the gate, even where nobody is left to end it."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from interlock.runners.sandbox_keeper import Keeper

pytestmark = pytest.mark.requirement("EXEC-7")


@pytest.fixture
def group() -> Iterator[subprocess.Popen[bytes]]:
    """A process group that ends by itself never."""
    process = subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_what_is_held_ends_when_the_gate_is_gone(group: subprocess.Popen[bytes]) -> None:
    keeper = Keeper()
    keeper.start()
    keeper.hold(group.pid)
    keeper.close()
    assert group.wait(timeout=10) == -signal.SIGKILL


def test_what_was_released_is_left_alone(group: subprocess.Popen[bytes]) -> None:
    keeper = Keeper()
    keeper.start()
    for _ in range(3):
        keeper.hold(group.pid)
        keeper.release(group.pid)
    keeper.close()
    with pytest.raises(subprocess.TimeoutExpired):
        group.wait(timeout=0.3)


def test_a_keeper_that_was_killed_is_replaced_by_one_that_knows_all(group: subprocess.Popen[bytes]) -> None:
    keeper = Keeper()
    keeper.start()
    keeper.hold(group.pid)
    assert keeper._process is not None
    keeper._process.kill()
    keeper._process.wait()
    keeper.release(1 << 30)
    keeper.start()
    keeper.close()
    assert group.wait(timeout=10) == -signal.SIGKILL


def test_it_is_one_process_that_leaves_nothing_open() -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are enough
    keeper = Keeper()
    keeper.start()
    first = keeper._process
    keeper.start()
    assert keeper._process is first
    keeper.close()
    keeper.close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - names are enough
