"""What is said of one tool puts its log beside its entry in the catalogue."""

from dataclasses import replace

import pytest

from interlock.core.effect import Effect
from interlock.core.lifecycle import Lifecycle
from interlock.core.review_counts import Counts, Numbers
from interlock.core.review_tool import Gap, Logged, Published, Version, reviewed
from interlock.core.tool import ToolSpec
from tests.unit.core.compatibility_cases import spec

ONE = Version("1", Lifecycle.AVAILABLE, "d1")
OWNED = replace(spec(), owner="eng", business_owner="sales", effect=Effect.WRITE)


def published(found: ToolSpec = OWNED, *versions: Version) -> Published:
    return Published(found, versions or (ONE,))


@pytest.mark.requirement("REG-11")
def test_missing_owners_and_examples_and_a_review_that_is_due_are_gaps() -> None:
    def gaps(found: Published) -> tuple[Gap, ...]:
        return reviewed("a", found, Logged(), at_us=100).gaps

    assert gaps(published(replace(OWNED, owner="", business_owner=""))) == (Gap.OWNER, Gap.BUSINESS_OWNER, Gap.EXAMPLES)
    assert gaps(published(replace(OWNED, business_owner="", effect=Effect.READ))) == (Gap.EXAMPLES,)
    assert gaps(replace(published(), stale_examples=2, review_at_us=99)) == (Gap.STALE_EXAMPLES, Gap.REVIEW_PAST)
    assert gaps(replace(published(), stale_examples=0, review_at_us=101)) == ()


@pytest.mark.requirement("REG-11")
def test_versions_stand_one_by_one_with_what_each_broke_and_together() -> None:
    two, numbers = Version("2", Lifecycle.CANDIDATE, "d2", "breaking"), Numbers(Counts(started=2))
    logged = Logged({"1": numbers, "0": numbers}, published={"1": 7, "2": 9})
    found = reviewed("a", published(OWNED, ONE, two), logged, at_us=100)
    assert [(each.version, each.state, each.verdict) for each in found.versions] == [
        ("1", Lifecycle.AVAILABLE, ""), ("2", Lifecycle.CANDIDATE, "breaking"), ("0", None, "")
    ]  # fmt: skip
    assert (found.numbers.counts.proposals, found.published_at_us, found.changes["breaking"]) == (4, 7, 1)
    assert (found.state, found.is_open) == (Lifecycle.AVAILABLE, True)


def test_a_tool_that_the_catalogue_does_not_have_is_told_by_its_log_alone() -> None:
    found = reviewed("gone", None, Logged({"1": Numbers(Counts(started=1))}), at_us=1)
    assert (found.state, found.is_open, found.gaps, found.numbers.counts.started) == (None, False, (), 1)
