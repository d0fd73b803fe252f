"""A default version is changed and taken back by one act within its window."""

import pytest

from interlock.core.default_versions import DefaultVersion, default_from_bytes, default_to_bytes
from interlock.core.errors import SpecInvalid


def test_one_act_goes_back_within_the_window() -> None:
    two = DefaultVersion("1").promoted("2", until_us=10)
    assert two == DefaultVersion("2", "1", 10)
    assert two.rolled_back(10) == DefaultVersion("1")
    with pytest.raises(SpecInvalid, match="has passed"):
        two.rolled_back(11)
    with pytest.raises(SpecInvalid, match="no version before"):
        DefaultVersion("1").rolled_back(0)


def test_a_name_that_followed_what_was_published_last_goes_back_to_following() -> None:
    for version, before in (("1", "2"), ("2", "")):
        first = DefaultVersion.first(version, newest="2", until_us=10)
        assert first == DefaultVersion(version, before, 10, followed=True)
        assert (first.way_back, first.rolled_back(10)) == ("the version published last", DefaultVersion(""))
        assert first.promoted("3", until_us=20).rolled_back(20) == DefaultVersion(version)
        with pytest.raises(SpecInvalid, match="has passed"):
            first.rolled_back(11)


def test_the_default_is_not_promoted_again() -> None:
    with pytest.raises(SpecInvalid, match="the default already"):
        DefaultVersion("1", "0", 9).promoted("1", until_us=10)


def test_it_is_read_back_as_it_was_written() -> None:
    for each in (DefaultVersion("1"), DefaultVersion("2", "1", 2**53, followed=True)):
        assert default_from_bytes(default_to_bytes(each)) == each
    for broken in (b"", b"[]", b'{"version":1}', b"{}"):
        with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
            default_from_bytes(broken)
