"""What changed after an epoch is found in memory without a look at all that did not."""

from dataclasses import replace

import pytest

from interlock.core.lifecycle import Lifecycle
from interlock.ports import Registered
from interlock.store.memory_versions import MemoryVersions
from tests.steps import steps


def version(number: int) -> Registered:
    return Registered("*", "python", f"tool_{number}", "1", f"{number:064}", Lifecycle.AVAILABLE, b"{}")


def filled(count: int) -> MemoryVersions:
    versions = MemoryVersions()
    versions.put(versions.checked(map(version, range(count))), 1)
    return versions


def test_a_version_that_changed_twice_comes_once_as_it_is_now() -> None:
    versions = filled(3)
    for epoch, state in ((2, Lifecycle.FROZEN), (3, Lifecycle.AVAILABLE)):
        versions.put(versions.checked([replace(version(1), state=state)]), epoch)
    assert versions.since(1) == (version(1),)
    assert [each.name for each in versions.all()] == ["tool_0", "tool_1", "tool_2"]
    assert versions.checked([version(1)]) == {}


@pytest.mark.requirement("SCALE-3")
def test_a_change_among_many_is_written_and_read_as_among_few() -> None:
    def change(count: int) -> int:
        versions = filled(count)

        def freeze() -> None:
            versions.put(versions.checked([replace(version(1), state=Lifecycle.FROZEN)]), 2)
            assert len(versions.since(1)) == 1

        return steps(freeze)

    assert change(5_000) == change(5)
