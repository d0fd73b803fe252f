"""The package costs little to import, and every public name is where it says."""

import subprocess
import sys

import pytest

import interlock

HEAVY = ("apsw", "cedarpy", "cryptography", "jsonschema_rs", "re2", "rich", "typer", "httpx", "asyncio")


@pytest.mark.parametrize("name", interlock.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(interlock, name).__name__ == interlock.RENAMED.get(name, name)


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, interlock; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = interlock.Nothing


def test_every_public_name_is_listed_before_it_is_used() -> None:
    code = "import interlock; print(sorted(set(interlock.__all__) - set(dir(interlock))))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
