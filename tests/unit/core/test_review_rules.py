"""Thresholds are whole numbers that can be meant; anything else is refused with what it takes."""

from typing import Any

import pytest

from interlock.core.errors import SettingsInvalid
from interlock.core.review_rules import ReviewRules


@pytest.mark.parametrize("given", [{"calls_min": 0}, {"idle_days": "90"}, {"alike_percent": 101}, {"calls_min": True}])
def test_a_threshold_that_cannot_be_meant_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsInvalid, match=next(iter(given))):
        ReviewRules(**given)


def test_counts_have_no_upper_bound_and_shares_end_at_all() -> None:
    assert ReviewRules(idle_days=3_650, alike_percent=100).idle_days == 3_650
