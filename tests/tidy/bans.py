"""Rules that ban a way of writing, each with what to write instead."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.tidy.source import Fault, Source, statements

IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
CLOCK_READS = {"now", "utcnow", "today"}
BROAD = {"Exception", "BaseException"}
CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*")


@dataclass(frozen=True)
class Bans:
    """What is allowed or banned, as `tests/test_tidy.py` lists it."""

    pure_rooms: frozenset[str]
    pure_modules: frozenset[str]
    name_parts: frozenset[str]
    lazy_imports: Mapping[str, str]
    broad_except: Mapping[str, str]


def impure_import(source: Source, bans: Bans) -> Iterator[Fault]:
    """A pure room imports ours, and of the world's only what neither touches nor asks it."""
    if not _is_pure(source, bans):
        return
    for node, module in _imports(source):
        if module.partition(".")[0] != "interlock" and not _prefixes(module) & bans.pure_modules:
            message = f"{module} is not on the list of pure modules: let a room at the edge do it and pass the value in"
            yield Fault("impure-import", source.path, node.lineno, message, module)


def impure_call(source: Source, bans: Bans) -> Iterator[Fault]:
    """A pure room reads no file and no clock, and builds no code."""
    if not _is_pure(source, bans):
        return
    for node in source.nodes(ast.Call):
        called = _last_name(node.func)
        is_builtin = isinstance(node.func, ast.Name) and called in IMPURE_CALLS
        is_clock = isinstance(node.func, ast.Attribute) and called in CLOCK_READS
        if is_builtin or is_clock:
            yield Fault(
                "impure-call", source.path, node.lineno, f"{called}() in a pure room: take the value in", called
            )


def any_in_core(source: Source, bans: Bans) -> Iterator[Fault]:
    """`Any` switches the type checker off where it matters most."""
    if source.in_package and source.parts[0] == "core":
        for node in source.nodes(ast.Name, ast.Attribute):
            if _last_name(node) == "Any":
                yield Fault("any-in-core", source.path, node.lineno, "Any in core: say Json, object or a type variable")


def loose_dataclass(source: Source, bans: Bans) -> Iterator[Fault]:
    """Dataclasses of core are frozen and slotted: a decision cannot be changed after it was made."""
    if source.in_package and source.parts[0] == "core":
        for node in source.nodes(ast.ClassDef):
            if any(map(_is_loose, node.decorator_list)):
                message = f"{node.name}: write @dataclass(frozen=True, slots=True)"
                yield Fault("loose-dataclass", source.path, node.lineno, message, node.name)


def import_in_function(source: Source, bans: Bans) -> Iterator[Fault]:
    """Imports stand at the top, where a reader and the layering rule look for them."""
    if not source.in_package or _listed(source.path, bans.lazy_imports):
        return
    for name, function, _ in source.functions:
        if _imports_inside(function):
            message = f"{name} imports inside: import on top; a heavy adapter is assembled in assemble.py"
            yield Fault("import-in-function", source.path, function.lineno, message, name)


def vague_name(source: Source, bans: Bans) -> Iterator[Fault]:
    """A class or module that is named for being a class or a module says nothing of what it does."""
    if not source.in_package:
        return
    for part in source.parts:
        if {word.capitalize().removesuffix("s") for word in part.split("_")} & bans.name_parts:
            yield Fault("vague-name", source.path, 1, f"module {part!r}: name it by what it holds", part)
    for node in source.nodes(ast.ClassDef):
        if _camel_parts(node.name) & bans.name_parts:
            yield Fault("vague-name", source.path, node.lineno, f"{node.name}: name what it is or does", node.name)


def broad_except(source: Source, bans: Bans) -> Iterator[Fault]:
    """A broad handler lives only where a call must not leave the loop, and says why."""
    if not source.in_package or _listed(source.path, bans.broad_except):
        return
    for node in source.nodes(ast.ExceptHandler):
        if node.type is None or _caught(node.type) & BROAD:
            yield Fault("broad-except", source.path, node.lineno, "catch the exceptions that you expect, by name")


def swallowed(source: Source, bans: Bans) -> Iterator[Fault]:
    """An exception that is passed over in silence looks like one that was forgotten."""
    for node in source.nodes(ast.ExceptHandler):
        if len(node.body) == 1 and isinstance(node.body[0], ast.Pass):
            message = "`pass` in except: use contextlib.suppress with a comment that says why"
            yield Fault("swallowed", source.path, node.lineno, message)


def logged_trace(source: Source, bans: Bans) -> Iterator[Fault]:
    """A stack trace holds the words of others' code, and whatever secrets stand in them."""
    for node in source.nodes(ast.Call) if source.in_package else ():
        where = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "exception" else None
        is_log = where is not None and _last_name(where).lower().strip("_") in ("log", "logger", "logging")
        if is_log or any(each.arg == "exc_info" for each in node.keywords):
            message = "a stack trace goes to the log redacted: `interlock.runtime.faults.report`"
            yield Fault("logged-trace", source.path, node.lineno, message)


def sleep_in_test(source: Source, bans: Bans) -> Iterator[Fault]:
    """A test that sleeps is slow on a fast machine and wrong on a slow one."""
    for node in source.nodes(ast.Call) if source.in_tests else ():
        if _last_name(node.func) == "sleep":
            message = "sleep in a test: wait for an event, pass the clock in, or use anyio.lowlevel.checkpoint()"
            yield Fault("sleep-in-test", source.path, node.lineno, message)


def mock_in_test(source: Source, bans: Bans) -> Iterator[Fault]:
    """A mock of our own code proves that the code is as it is; a fake holds the contract."""
    for node, module in _imports(source) if source.in_tests else ():
        if module.startswith(("unittest.mock", "mock", "pytest_mock")):
            message = "no mocks: use the fakes of interlock.testing, or write one that holds the port's contract"
            yield Fault("mock-in-test", source.path, node.lineno, message)


def _is_pure(source: Source, bans: Bans) -> bool:
    return source.in_package and source.parts[0] in bans.pure_rooms


def _listed(path: str, listed: Mapping[str, str]) -> bool:
    """Whether a file, or a folder above it (written with a slash at its end), is on a list."""
    return any(path == entry or (entry.endswith("/") and path.startswith(entry)) for entry in listed)


def _imports(source: Source) -> Iterator[tuple[ast.stmt, str]]:
    for node in source.nodes(ast.Import):
        yield from ((node, alias.name) for alias in node.names)
    for part in source.nodes(ast.ImportFrom):
        yield from ((part, f"{part.module}.{alias.name}") for alias in part.names)


def _imports_inside(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) or any(map(_imports_inside, statements(node)))


def _prefixes(dotted: str) -> set[str]:
    parts = dotted.split(".")
    return {".".join(parts[:end]) for end in range(1, len(parts) + 1)}


def _camel_parts(name: str) -> set[str]:
    parts = CAMEL_PART.findall(name)
    return {*parts, *(part.removesuffix("s") for part in parts)}


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _caught(node: ast.expr) -> set[str]:
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    return set(map(_last_name, nodes))


def _is_loose(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    on = {word.arg for word in keywords if isinstance(word.value, ast.Constant) and word.value.value is True}
    return _last_name(called) == "dataclass" and not {"frozen", "slots"} <= on
