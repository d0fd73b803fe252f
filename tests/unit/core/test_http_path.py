"""A value of a path cannot climb out of its place, however it is spelled."""

import pytest

from interlock.core.canonical import Json
from interlock.core.http_path import check_path_value, check_segment, climbs
from interlock.core.http_style import Misfit

CLIMBING = [
    "..", ".", "../x", "a/../b", "a/./b", "%2e%2e", "%2E.", ".%2e/x", "%252e%252e", "%25252e%25252e", "..%2fx",
    "..%5cx", "a\\..\\b", "\\", "%5c", "..;/x",
    "..;v=1", "．．", "‥", "․․", ".. ", "a\0b", "%00", "a\r\nb", "%0d%0a", "a\x7f",
    "%" + "25" * 12 + "2e",
]  # fmt: skip


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("value", CLIMBING)
def test_a_value_that_climbs_in_any_reading_is_refused(value: str) -> None:
    for given in (value, [value], {"a": value}, {value: "a"}):
        with pytest.raises(Misfit):
            check_path_value(given)


@pytest.mark.parametrize(
    "value", ["a", "a.b", "...", "..a", "a..", "a/b", "é", "100%", "%41", "a;b", 7, None, [1, "x"]]
)
def test_an_honest_value_passes(value: Json) -> None:
    check_path_value(value)


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("segment", ["", ".", "..", "%2e%2e", "%2E%2e"])
def test_a_finished_part_that_is_empty_or_climbs_is_refused(segment: str) -> None:
    with pytest.raises(Misfit):
        check_segment(segment)


def test_one_reading_is_judged_at_a_time() -> None:
    assert not climbs("%2e%2e")
    assert climbs("..")
