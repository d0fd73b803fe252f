"""Random schedules of concurrent calls, approvals, revocations and crashes at every step, on a simulated store."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.simulation.plan import PLANS, STALLED, Plan
from tests.simulation.play import Stretch
from tests.simulation.verdict import verdict

pytestmark = [pytest.mark.requirement("IDEM-3", "IDEM-4", "APR-4", "APR-5", "BUD-2", "CALL-8", "AUD-2", "AUD-3")]

COMMON = settings(max_examples=100, suppress_health_check=list(HealthCheck))
MANY = settings(COMMON, max_examples=5_000)


def check(plan: Plan) -> None:
    """Play it, and find nothing wrong."""
    stretch = Stretch(plan)
    left = stretch.play()
    assert verdict(stretch.facts(), left) == []


@given(PLANS)
@COMMON
def test_no_schedule_and_no_crash_breaks_a_promise(plan: Plan) -> None:
    check(plan)


@given(STALLED)
@settings(COMMON, max_examples=50)
def test_a_worker_that_lost_its_lease_changes_nothing_any_more(plan: Plan) -> None:
    check(plan)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@given(PLANS)
@MANY
def test_no_schedule_of_thousands_breaks_a_promise(plan: Plan) -> None:
    check(plan)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@given(STALLED)
@MANY
def test_no_lost_lease_of_thousands_changes_anything(plan: Plan) -> None:
    check(plan)
