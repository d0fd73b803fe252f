"""Each rule of style fires on what it bans and is silent on what to write instead."""

from pathlib import Path

import pytest

from tests.test_tidy import BANS, LIMITS, ROOMS, RULES
from tests.tidy import sizes, structure
from tests.tidy.source import Fault, Source

CORE = "src/interlock/core/x.py"
RUNTIME = "src/interlock/runtime/x.py"
TEST = "tests/unit/test_x.py"

IF_IN_LOOPS = "def f(a):\n for b in a:\n  while b:\n   with b:\n    if b:\n     b()"
ELIF_LADDER = "def f(a):\n if a == 1: a()\n elif a == 2: a()\n elif a == 3: a()\n elif a == 4: a()\n else: a()"

BAD_AND_GOOD = [
    ("file_length", CORE, "x = 1\n" * 401, "x = 1\n" * 400),
    ("function_length", CORE, "def f():\n" + " f()\n" * 50, "def f():\n" + " f()\n" * 49),
    ("function_length", CORE, "class C:\n def f(self):\n" + "  f()\n" * 50, "class C:\n def f(self):\n  f()"),
    ("complexity", CORE, "def f(a):\n" + " if a: a()\n" * 15, "def f(a):\n" + " if a: a()\n" * 14),
    (
        "complexity",
        CORE,
        "def f(a):\n" + " a = [b for b in a]\n" * 15,
        "def f(a):\n def g(b):\n" + "  if b: b()\n" * 14,
    ),
    ("nesting", CORE, IF_IN_LOOPS, IF_IN_LOOPS.replace("    if b:\n     b()", "    b()")),
    ("nesting", CORE, "def f(a):\n if a:\n  if a:\n   if a:\n    pass\n   else:\n    for b in a: b()", ELIF_LADDER),
    ("parameters", CORE, "def f(a, *, b, c, d, e, g): ...", "def f(a, *, b, c, d, e): ..."),
    ("parameters", CORE, "def f(a, b, c, d): ...", "def f(a, b, c, *, d): ..."),
    ("parameters", CORE, "class C:\n def f(self, a, b, c, d): ...", "class C:\n def f(self, a, b, c, *, d): ..."),
    (
        "parameters",
        CORE,
        "class C:\n @staticmethod\n def f(a, b, c, d): ...",
        "class C:\n @staticmethod\n def f(a): ...",
    ),
    ("parameters", CORE, "async def f(a, b, c, d, /): ...", "class C:\n def __exit__(self, kind, error, trace): ..."),
    ("impure_import", CORE, "import os", "import hashlib"),
    ("impure_import", CORE, "from time import monotonic", "from collections.abc import Mapping"),
    ("impure_import", CORE, "import random", "import orjson"),
    ("impure_import", CORE, "import asyncio", "from interlock.core import call"),
    ("impure_import", CORE, "import urllib.request", "import urllib.parse"),
    ("impure_import", CORE, "from uuid import uuid4", "from uuid import UUID"),
    ("impure_import", "src/interlock/models/x.py", "import httpx", "import json"),
    ("impure_call", CORE, "x = open('y')", "x = gate.open('y')"),
    ("impure_call", CORE, "x = datetime.now(UTC)", "x = datetime.fromisoformat(y)"),
    ("impure_call", CORE, "x = eval(y)", "x = re.compile(y)"),
    ("any_in_core", CORE, "def f(a: Any): ...", "def f(a: object): ..."),
    ("any_in_core", CORE, "x: typing.Any = 1", "x = any(y)"),
    ("loose_dataclass", CORE, "@dataclass\nclass C: ...", "@dataclass(frozen=True, slots=True)\nclass C: ..."),
    ("loose_dataclass", CORE, "@dataclass(frozen=True, slots=False)\nclass C: ...", "@final\nclass C: ..."),
    ("loose_dataclass", CORE, "@dataclasses.dataclass(frozen=True)\nclass C: ...", "class C: ..."),
    ("import_in_function", RUNTIME, "def f():\n import json", "import json"),
    ("vague_name", RUNTIME, "class CallManager: ...", "class Database: ..."),
    ("vague_name", RUNTIME, "class ToolHelpers: ...", "class Gate: ..."),
    ("vague_name", RUNTIME, "class BaseStore: ...", "class Basement: ..."),
    ("broad_except", RUNTIME, "try: f()\nexcept Exception: g()", "try: f()\nexcept ValueError: g()"),
    ("broad_except", RUNTIME, "try: f()\nexcept: g()", "try: f()\nexcept (KeyError, ValueError): g()"),
    ("broad_except", RUNTIME, "try: f()\nexcept (KeyError, BaseException): g()", "f()"),
    ("swallowed", RUNTIME, "try: f()\nexcept ValueError: pass", "try: f()\nexcept ValueError: g()"),
    ("logged_trace", RUNTIME, "LOG.exception('x')", "task.exception()"),
    ("logged_trace", RUNTIME, "_log.error('x', exc_info=True)", "_log.error('x')"),
    ("sleep_in_test", TEST, "async def test_x():\n await asyncio.sleep(1)", "async def test_x():\n await event.wait()"),
    ("mock_in_test", TEST, "from unittest.mock import Mock", "from interlock.testing import Clock"),
    ("mock_in_test", TEST, "from unittest import mock", "import unittest"),
    ("first_sentence", CORE, "x = 1", '"""What x is."""\nx = 1'),
    ("first_sentence", CORE, '"""X"""\nx = 1', ""),
    ("mirrored_test", "src/interlock/core/absent.py", "def f():\n return 1", "class P(Protocol):\n def f(self): ..."),
]


@pytest.mark.parametrize(("rule", "path", "bad", "good"), BAD_AND_GOOD)
def test_a_rule_fires_on_what_it_bans_only(rule: str, path: str, bad: str, good: str) -> None:
    assert _faults(rule, path=path, text=bad)
    assert not _faults(rule, path=path, text=good)


def test_every_rule_but_layering_is_shown_to_fire() -> None:
    assert {rule for rule, *_ in BAD_AND_GOOD} == set(RULES) - {"layering"}


@pytest.mark.parametrize(
    ("path", "imported"),
    [
        ("core/x.py", "from interlock.runtime import gate"),
        ("core/x.py", "from interlock import ports"),
        ("core/x.py", "from interlock import Gate"),
        ("core/x.py", "import interlock"),
        ("core/x.py", "def f():\n import interlock.settings"),
        ("runtime/x.py", "from interlock.store.memory import MemoryStore"),
        ("runtime/x.py", "from interlock.loop.machine import Run"),
        ("store/x.py", "from interlock.runners.http import fetch"),
        ("models/x.py", "from interlock import ports"),
        ("doors/http/x.py", "from interlock.doors.cli import main"),
        ("doors/http/x.py", "from interlock import assemble"),
        ("doors/cli/x.py", "from interlock.store import sqlite"),
        ("testing/x.py", "from interlock.store.sqlite import SqliteStore"),
        ("assemble.py", "from interlock.doors.cli import main"),
        ("assemble.py", "from interlock import Gate"),
        ("newroom/x.py", ""),
        ("stray.py", ""),
    ],
)
def test_an_import_that_the_table_lacks_is_a_fault(path: str, imported: str) -> None:
    assert _faults("layering", path=f"src/interlock/{path}", text=imported)


@pytest.mark.parametrize(
    ("path", "imported"),
    [
        ("core/x.py", "from interlock.core.call import ToolCall"),
        ("runtime/x.py", "from interlock.ports import Calls"),
        ("runtime/x.py", "from interlock import core"),
        ("engines/x.py", "from interlock.loop import drive"),
        ("doors/cli/x.py", "from interlock import assemble"),
        ("doors/cli/x.py", "from interlock.doors.cli.render import table"),
        ("doors/http/x.py", "from interlock.runtime.gate import Gate"),
        ("testing/x.py", "from interlock.store.memory import MemoryStore"),
        ("testing/x.py", "from interlock.store import memory"),
        ("assemble.py", "from interlock.store.sqlite import SqliteStore"),
        ("__init__.py", "from interlock.assemble import Gate"),
        ("doors/__init__.py", ""),
    ],
)
def test_an_import_that_the_table_has_is_none(path: str, imported: str) -> None:
    assert not _faults("layering", path=f"src/interlock/{path}", text=imported)


def test_a_broad_except_is_allowed_where_the_list_says_so() -> None:
    text = "try: f()\nexcept Exception: g()"
    assert not _faults("broad_except", path="src/interlock/runners/python.py", text=text)
    assert not _faults("broad_except", path="src/interlock/runtime/gate.py", text=text)


def test_a_vague_module_name_is_a_fault() -> None:
    assert _faults("vague_name", path="src/interlock/core/call_utils.py", text="")
    assert not _faults("vague_name", path="src/interlock/core/calls.py", text="")


def test_a_module_is_mirrored_by_one_test_file_or_by_several_that_share_its_name(tmp_path: Path) -> None:
    source = Source(CORE, "def f():\n return 1")
    folder = tmp_path / "tests" / "unit" / "core"
    folder.mkdir(parents=True)
    assert list(structure.mirrored_test(source, tmp_path))
    (folder / "test_x_limits.py").touch()
    assert not list(structure.mirrored_test(source, tmp_path))


def test_tests_may_take_as_many_fixtures_as_they_need() -> None:
    text = "def test_x(a, b, c, d, e, f): ..."
    assert not _faults("parameters", path=TEST, text=text)
    assert list(sizes.parameters(Source(CORE, text), LIMITS))


def test_the_lists_name_rooms_that_are_in_the_table() -> None:
    assert set(ROOMS.may_import) >= BANS.pure_rooms


def _faults(rule: str, *, path: str, text: str) -> list[Fault]:
    return list(RULES[rule](Source(path, text)))
