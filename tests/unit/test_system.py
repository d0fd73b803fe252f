"""The machine's clock and randomness hold the contracts of their ports."""

import os
from pathlib import Path

import pytest

from interlock.ports import Clock, Entropy
from interlock.system import SystemClock, SystemEntropy, cache_folder


async def test_the_clock_counts_microseconds_and_never_goes_back() -> None:
    clock: Clock = SystemClock()
    wait = clock.sleep
    before_us, before_s = clock.now_us(), clock.monotonic_s()
    await wait(0)
    assert clock.now_us() >= before_us > 1_700_000_000_000_000
    assert clock.monotonic_s() >= before_s


def test_a_clock_that_is_set_back_goes_on_from_where_it_was_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    hour_ns, wall = 3_600 * 10**9, [10**18]
    clock = SystemClock(lambda: wall[0])
    before_us = clock.now_us()
    wall[0] -= hour_ns
    assert clock.now_us() == clock.now_us() == before_us
    (said,) = caplog.messages
    assert "was set back by 3600 s: this process goes on from the time before, which is 3600 s ahead of it now" in said
    wall[0] += 5_000
    assert clock.now_us() == before_us + 5
    wall[0] += 2 * hour_ns
    assert clock.now_us() == before_us + 5 + 7_200_000_000
    wall[0] -= 1_000
    assert clock.now_us() == before_us + 5 + 7_200_000_000
    assert len(caplog.messages) == 1
    assert SystemClock(lambda: wall[0]).now_us() == wall[0] // 1_000


def test_no_bytes_are_drawn_twice() -> None:
    entropy: Entropy = SystemEntropy()
    drawn = [entropy.bytes(16) for _ in range(2_000)]
    assert len({*drawn}) == 2_000
    assert len(entropy.bytes(20_000)) == 20_000


def test_a_forked_process_draws_its_own() -> None:
    entropy = SystemEntropy()
    entropy.bytes(1)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, entropy.bytes(16))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 16) != entropy.bytes(16)
    os.close(reading)
    os.close(writing)


def test_what_can_be_made_again_is_kept_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/interlock")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert cache_folder() == Path("/home/me/.cache/interlock")
