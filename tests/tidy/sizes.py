"""Rules that keep files, functions and signatures small."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tests.tidy.source import Fault, Source, children, statements

BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case, ast.IfExp, ast.comprehension)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True)
class Limits:
    """The largest that is allowed, each counted as the rules below say."""

    file_lines: int
    function_lines: int
    complexity: int
    nesting: int
    parameters: int
    positional: int


def file_length(source: Source, limits: Limits) -> Iterator[Fault]:
    """Lines of a file, comments and blank lines included."""
    lines = source.text.count("\n")
    if lines > limits.file_lines:
        yield Fault(
            "file-length", source.path, 1, f"{lines} lines, {limits.file_lines} allowed: split it by what it is for"
        )


def function_length(source: Source, limits: Limits) -> Iterator[Fault]:
    """Lines from `def` to the last line of the body, docstring included, decorators not."""
    for name, node, _ in source.functions:
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > limits.function_lines:
            message = f"{name} has {lines} lines, {limits.function_lines} allowed: let it name its steps and call them"
            yield Fault("function-length", source.path, node.lineno, message, name)


def complexity(source: Source, limits: Limits) -> Iterator[Fault]:
    """One more than the branches of a function; a nested function counts apart."""
    for name, node, _ in source.functions:
        found = 1 + _branches(node)
        if found > limits.complexity:
            message = f"{name} has complexity {found}, {limits.complexity} allowed: hold the cases in a table or split"
            yield Fault("complexity", source.path, node.lineno, message, name)


def nesting(source: Source, limits: Limits) -> Iterator[Fault]:
    """Blocks inside blocks of one function; `elif` is as deep as its `if`."""
    for name, node, _ in source.functions:
        found = max((_depth(child) for child in node.body), default=0)
        if found > limits.nesting:
            message = f"{name} nests {found} blocks, {limits.nesting} allowed: return early or name the inner block"
            yield Fault("nesting", source.path, node.lineno, message, name)


def parameters(source: Source, limits: Limits) -> Iterator[Fault]:
    """Few parameters, keyword-only after the first of them; `self` and `cls` do not count, nor do dunder methods."""
    for name, node, is_method in source.functions:
        if node.name.startswith("__") and node.name.endswith("__"):
            continue
        bound = is_method and not _is_static(node)
        positional = len(node.args.posonlyargs) + len(node.args.args) - bound
        total = positional + len(node.args.kwonlyargs)
        if total > limits.parameters:
            message = f"{name} takes {total} parameters, {limits.parameters} allowed: make them one value with a name"
            yield Fault("parameters", source.path, node.lineno, message, name)
        if positional > limits.positional:
            message = (
                f"{name} takes {positional} positional parameters, {limits.positional} allowed: put `*` after the first"
            )
            yield Fault("keyword-only", source.path, node.lineno, message, name)


def _branches(function: ast.AST) -> int:
    found, inner = 0, [function]
    for node in inner:
        found += isinstance(node, BRANCHES)
        inner += [child for child in children(node) if not isinstance(child, SCOPES)]
    return found


def _depth(node: ast.AST) -> int:
    if isinstance(node, SCOPES):
        return 0
    below = max((_depth(child) for child in statements(node)), default=0)
    if isinstance(node, ast.If):
        return _depth_of_if(node)
    return below + isinstance(node, BLOCKS)


def _depth_of_if(node: ast.If) -> int:
    body = max(_depth(child) for child in node.body)
    is_elif = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
    otherwise = max((_depth(child) - is_elif for child in node.orelse), default=0)
    return 1 + max(body, otherwise)


def _is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in node.decorator_list)
