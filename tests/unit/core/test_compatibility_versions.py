"""Which version numbers promise that nothing breaks, and after which of those published a version comes."""

import pytest

from interlock.core.compatibility_versions import predecessor, promises_compatible, semantic

pytestmark = pytest.mark.requirement("REG-5")


@pytest.mark.parametrize(
    ("old", "new", "promised"),
    [
        ("1.0.0", "1.1.0", True),
        ("1.0.0", "1.0.1", True),
        ("1.9.0", "1.10.0", True),
        ("v1.2.0", "1.3.0", True),
        ("1.0", "1.1", True),
        ("1.0.0", "1.0.0+build.5", True),
        ("1.0.0", "2.0.0", False),
        ("1.1.0", "1.0.0", False),
        ("0.1.0", "0.1.5", True),
        ("0.1.0", "0.2.0", False),
        ("1.0.0-rc.1", "1.0.0", False),
        ("1.0.0", "1.1.0-rc.1", False),
        ("1", "2", False),
        ("v1", "v2", False),
        ("2026-11-01", "2026-11-30", False),
        ("2026.11.1", "2026.11.30", False),
        ("next", "1.0.0", False),
        ("1.0.0", "1.01.0", False),
    ],
)
def test_only_semantic_versions_of_one_line_promise_anything(old: str, new: str, *, promised: bool) -> None:
    assert promises_compatible(old, new) is promised


def test_a_version_comes_after_the_nearest_one_that_it_promises_to_keep() -> None:
    known = ["1.0.0", "1.10.0", "1.2.0", "2.0.0", "1.11.0-rc.1", "v9", "2026-11-30"]
    assert predecessor("1.10.1", known) == "1.10.0"
    assert predecessor("1.2.1", known) == "1.2.0"
    assert predecessor("1.0.0", known) is None
    assert predecessor("3.0.0", known) is None
    assert predecessor("v10", known) is None


def test_previews_come_before_their_release_and_numbers_before_names() -> None:
    ordered = ["1.0.0-1", "1.0.0-2", "1.0.0-11", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0", "1.0.1"]
    ranks = [found.rank for each in ordered if (found := semantic(each)) is not None]
    assert ranks == sorted(ranks)
    assert len(ranks) == len(ordered)
