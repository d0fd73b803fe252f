"""A source file as the rules see it: its path, its text, its tree, its room."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

PACKAGE = "src/interlock/"

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

N = TypeVar("N", bound=ast.AST)

BODIES = ("body", "handlers", "cases", "orelse", "finalbody")
"""The fields of a statement that hold statements."""


@dataclass(frozen=True)
class Fault:
    """One breach: which rule, where, and what to do instead."""

    rule: str
    path: str
    line: int
    message: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Source:
    """One Python file. `path` is relative to the repository, with forward slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def _nodes(self) -> Mapping[type[ast.AST], list[ast.AST]]:
        """The tree, walked once for all rules."""
        found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        walked: list[ast.AST] = [self.tree]
        for node in walked:
            found[type(node)].append(node)
            walked += children(node)
        return found

    def nodes(self, *kinds: type[N]) -> Iterator[N]:
        """Every node of these kinds, one kind after the other."""
        for kind in kinds:
            yield from self._nodes.get(kind, ())  # type: ignore[misc]

    @property
    def in_package(self) -> bool:
        return self.path.startswith(PACKAGE)

    @property
    def in_tests(self) -> bool:
        return self.path.startswith("tests/")

    @property
    def parts(self) -> tuple[str, ...]:
        """The path below the package without suffix: `("core", "canonical")`."""
        return Path(self.path.removeprefix(PACKAGE)).with_suffix("").parts

    @cached_property
    def functions(self) -> tuple[tuple[str, FunctionNode, bool], ...]:
        """Every function: its qualified name, its node, and whether it is a method."""
        return tuple(_functions(self.tree, prefix="", in_class=False))


def load(root: Path, folders: Iterable[str]) -> tuple[Source, ...]:
    """Every Python file below the folders of a repository, in a fixed order."""
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return tuple(Source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in paths)


def children(node: ast.AST) -> list[ast.AST]:
    """What a node consists of: as `ast.iter_child_nodes` has it, at a third of the time."""
    found: list[ast.AST] = []
    for part in node.__dict__.values():
        if isinstance(part, list):
            found += [each for each in part if isinstance(each, ast.AST)]
        elif isinstance(part, ast.AST) and not isinstance(part, ast.expr_context):
            found.append(part)
    return found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements directly inside a statement, with the handlers and cases that hold others."""
    for name in BODIES:
        part = getattr(node, name, None)
        if isinstance(part, list):  # the body of a lambda is an expression
            yield from part


def _functions(parent: ast.AST, *, prefix: str, in_class: bool) -> Iterator[tuple[str, FunctionNode, bool]]:
    for node in statements(parent):
        if isinstance(node, FunctionNode):
            yield prefix + node.name, node, in_class
            yield from _functions(node, prefix=f"{prefix}{node.name}.", in_class=False)
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, prefix=f"{prefix}{node.name}.", in_class=True)
        else:
            yield from _functions(node, prefix=prefix, in_class=in_class)
