"""The package costs little to import, and every public name is where it says."""

import ast
import inspect
import subprocess
import sys

import pytest

import interlock
from interlock.public import HOMES, RENAMED

HEAVY = ("apsw", "cedarpy", "cryptography", "jsonschema_rs", "re2", "rich", "typer", "httpx", "asyncio")


@pytest.mark.parametrize("name", interlock.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(interlock, name).__name__ == RENAMED.get(name, name)


def test_type_checkers_are_told_of_the_same_names_in_the_same_modules() -> None:
    told = [node for node in ast.walk(ast.parse(inspect.getsource(interlock))) if isinstance(node, ast.ImportFrom)]
    homes = {name.asname or name.name: each.module for each in told for name in each.names}
    at_run_time = {name: home for home, names in HOMES.items() for name in names.split()}
    assert at_run_time == {name: homes[name] for name in interlock.__all__}


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
