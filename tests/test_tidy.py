"""What `scripts/check tidy` holds of layering, sizes and style, as literals to read and one test for each rule.

Where a rule makes the code worse, break it, say why in one line, and add the place to `EXCEPTIONS`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import pytest

from tests.tidy import bans, layering, sizes, structure
from tests.tidy.source import Fault, Source, load

ROOT = Path(__file__).resolve().parents[1]

LIMITS = sizes.Limits(file_lines=400, function_lines=50, complexity=15, nesting=3, parameters=5, positional=3)

# A file (`path`) or one name in it (`path::Class.method`) that may break a rule, and why.
EXCEPTIONS: Mapping[tuple[str, str], str] = {
    ("keyword-only", "src/interlock/runners/egress.py::GuardedNetwork.connect_tcp"): "the signature is httpcore's",
    ("parameters", "src/interlock/doors/cli/agents.py::canary"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/agents.py::set_agent"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/call.py::call"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/imports.py::openapi"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/imports_mcp.py::mcp"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/runs.py::start"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/tools_moves.py::move"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/tools_promote.py::promote"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/tools_retire.py::replace"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/tools_retire.py::retire"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/tools_stop.py::stop"): "each is an option of the command line",
    ("parameters", "src/interlock/doors/cli/tools_test.py::try_out"): "each is an option of the command line",
}

CALLERS = {"core", "ports", "settings", "runtime", "loop", "models", "importers", "declare"}
ROOMS = layering.Rooms(
    may_import={
        room: frozenset(may)
        for room, may in {
            "core": set[str](),
            "settings": {"core"},
            "ports": {"core"},
            "runtime": {"core", "ports", "settings"},
            "loop": {"core", "ports", "runtime", "models"},
            "providers": {"core", "settings", "loop", "models"},
            "importers": {"core", "ports", "runtime", "declare"},
            "store": {"core", "ports", "settings"},
            "runners": {"core", "ports", "settings", "runtime.faults"},
            "finders": {"core", "ports"},
            "telemetry": {"core", "ports", "settings"},
            "engines": {"core", "ports", "settings", "loop", "runtime.faults"},
            "models": {"core"},
            "declare": {"core"},
            "keys": {"core"},
            "system": {"core"},
            "doors": set[str](),
            "doors/*": CALLERS,
            "doors/cli": {*CALLERS, "providers", "assemble", "copies", "keys", "adapters", "rehearsal", "upstream"},
            "frameworks": CALLERS,
            "evals": CALLERS,
            "testing": {"core", "ports", "runtime", "loop", "models", "store.memory"},
            "assemble": {"*"},
            "driving": {"core", "settings", "runtime", "loop", "engines"},
            "adapters": {"core", "ports", "settings", "store", "runners", "finders", "system"},
            "declarations": {"core", "runtime", "models", "settings"},
            "lifecycle": {"core", "runtime"},
            "upstream": {"core", "declare", "runners"},
            "copies": {"core", "ports", "settings", "runtime", "store", "keys", "system", "assemble", "proving"},
            "proving": {"core"},
            "rehearsal": {"core", "ports", "settings", "runtime", "runners", "assemble", "testing"},
            "prover": {"core", "runtime", "store", "system", "proving"},
            "public": set[str](),
            "__init__": {*CALLERS, "assemble", "keys", "public", "upstream"},
        }.items()
    },
    never={"assemble": frozenset({"doors", "__init__"})},
)

# The standard library as far as it neither touches the world nor asks it the time, then others' code that is pure.
PURE_MODULES = frozenset(
    """
    __future__ abc base64 binascii bisect codecs collections contextlib copy dataclasses datetime decimal difflib enum
    fractions functools graphlib hashlib heapq hmac html ipaddress itertools json math numbers operator re string struct
    textwrap types typing unicodedata urllib.parse uuid.UUID zlib
    cedarpy cryptography jsonschema_rs msgspec orjson re2 rfc8785
    """.split()
)

BANS = bans.Bans(
    pure_rooms=frozenset({"core", "models", "ports"}),
    pure_modules=PURE_MODULES,
    name_parts=frozenset({"Manager", "Factory", "Helper", "Util", "Base", "Handler", "Service"}),
    lazy_imports={
        "src/interlock/assemble.py": "optional dependencies are imported where they are chosen",
        "src/interlock/runtime/catalogue.py": "versions are compared and reviewed for operators; no call waits for it",
        "src/interlock/importers/imported.py": "a program loads the importers that it uses",
        "src/interlock/declarations.py": "a process that asks no model itself needs no dialect",
        "src/interlock/adapters.py": "optional dependencies are imported where they are chosen",
        "src/interlock/prover.py": "psycopg is imported only where a log is in PostgreSQL",
        "src/interlock/copies.py": "psycopg is imported only where a store moves to PostgreSQL",
        "src/interlock/__init__.py": "`import interlock` stays under 0.2 s",
        "src/interlock/providers/bedrock.py": "botocore is an extra, which requests with an API key do without",
        "src/interlock/keys.py": "the signing library is loaded only where something is signed",
        "src/interlock/doors/cli/": "a command pays only for what it uses",
    },
    broad_except={
        "src/interlock/runtime/bounded.py": "whatever ends the wait of work is for the work to deal with",
        "src/interlock/runtime/gate.py": "whatever happens to a call, it ends in one observation",
        "src/interlock/runtime/execute.py": "a host's source of credentials may raise anything; then nothing runs",
        "src/interlock/runtime/settling.py": "whatever a tool handed back, its call must not stay claimed",
        "src/interlock/runtime/timers.py": "a store may be away for a while; the next pass finds what one missed",
        "src/interlock/engines/": "whatever is wrong with one run, the others go on, and it must not stay held",
        "src/interlock/runtime/look.py": "a host may raise anything; what is missing denies",
        "src/interlock/core/arguments.py": "reading a mapping runs its own code, which may raise anything",
        "src/interlock/core/policy_slice.py": "an engine that breaks, panics included, must not allow",
        "src/interlock/core/schema_library.py": "a panic of the validator library is no Exception",
        "src/interlock/runners/": "a tool may raise anything; it becomes an outcome here",
        "src/interlock/store/commit_thread.py": "whatever work raises is for who handed it over",
        "src/interlock/store/writer.py": "whatever has stopped the writer, nobody may wait for ever",
        "src/interlock/importers/python.py": "a package may raise anything while it is imported",
        "src/interlock/doors/": "whatever happens to a request, the caller gets an answer",
        "src/interlock/store/run_rules.py": "a run's step that cannot be made must not stop the store for all others",
    },
)

Rule = Callable[[Source], Iterator[Fault]]

RULES: Mapping[str, Rule] = {
    "layering": partial(layering.layering, rooms=ROOMS),
    **{
        rule.__name__: partial(rule, limits=LIMITS)
        for rule in (
            sizes.file_length,
            sizes.function_length,
            sizes.complexity,
            sizes.nesting,
        )
    },
    "parameters": lambda source: sizes.parameters(source, LIMITS) if source.in_package else iter(()),
    **{
        rule.__name__: partial(rule, bans=BANS)
        for rule in (
            bans.impure_import,
            bans.impure_call,
            bans.any_in_core,
            bans.loose_dataclass,
            bans.import_in_function,
            bans.vague_name,
            bans.broad_except,
            bans.swallowed,
            bans.logged_trace,
            bans.sleep_in_test,
            bans.mock_in_test,
        )
    },
    "first_sentence": structure.first_sentence,
    "mirrored_test": partial(structure.mirrored_test, root=ROOT),
}


@pytest.mark.timeout(240)  # seconds of computing, which a machine that is busy makes minutes
def test_every_file_keeps_every_rule() -> None:
    # One test, for two processes would both read all files.
    broken = {rule: [fault for fault in _faults(rule) if not _excepted(fault)] for rule in RULES}
    report = "\n".join(_report(rule, faults) for rule, faults in broken.items() if faults)
    if report:
        pytest.fail(report, pytrace=False)


def test_every_exception_is_still_needed_and_says_why() -> None:
    broken = {key for rule in RULES for fault in _faults(rule) for key in _keys(fault)}
    idle = [key for key in EXCEPTIONS if key not in broken]
    mute = [key for key, reason in EXCEPTIONS.items() if not reason.strip()]
    assert not idle, f"no longer needed, remove them: {idle}"
    assert not mute, f"say why in one line: {mute}"


def test_the_architecture_lists_the_rooms_that_there_are_and_what_they_may_import() -> None:
    places = {room: ROOT / "src/interlock" / room for room in ROOMS.may_import.keys() - {"doors", "__init__"}}
    there = {room for room, place in places.items() if place.is_dir() or place.with_suffix(".py").exists()}
    written = layering.written((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    assert written == {room: ROOMS.may_import[room] for room in there}


@cache
def _sources() -> tuple[Source, ...]:
    return load(ROOT, ("src", "tests", "examples", "benchmarks", "docs_src"))


@cache
def _faults(rule: str) -> tuple[Fault, ...]:
    return tuple(fault for source in _sources() for fault in RULES[rule](source))


def _keys(fault: Fault) -> tuple[tuple[str, str], ...]:
    return (fault.rule, fault.path), (fault.rule, f"{fault.path}::{fault.name}")


def _excepted(fault: Fault) -> bool:
    return any(key in EXCEPTIONS for key in _keys(fault))


def _report(rule: str, faults: Iterable[Fault]) -> str:
    shown = [layering.table(ROOMS)] if rule == "layering" else []
    return "\n".join([*map(str, faults), *shown])
