"""A default version is changed and taken back by one act within its window."""

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.rollouts import Rollout, rollout_from_bytes, rollout_to_bytes


def test_one_act_goes_back_within_the_window() -> None:
    two = Rollout("1").promoted("2", until_us=10)
    assert two == Rollout("2", "1", 10)
    assert two.rolled_back(10) == Rollout("1")
    with pytest.raises(SpecInvalid, match="has passed"):
        two.rolled_back(11)
    with pytest.raises(SpecInvalid, match="no version before"):
        Rollout("1").rolled_back(0)


def test_the_default_is_not_promoted_again() -> None:
    with pytest.raises(SpecInvalid, match="the default already"):
        Rollout("1", "0", 9).promoted("1", until_us=10)


def test_it_is_read_back_as_it_was_written() -> None:
    for each in (Rollout("1"), Rollout("2", "1", 2**53)):
        assert rollout_from_bytes(rollout_to_bytes(each)) == each
    for broken in (b"", b"[]", b'{"version":1}', b"{}"):
        with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
            rollout_from_bytes(broken)
