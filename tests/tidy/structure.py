"""Rules on what a file must come with: a first sentence that says what it is for, a test that mirrors it."""

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tests.tidy.source import PACKAGE, Fault, FunctionNode, Source


def first_sentence(source: Source) -> Iterator[Fault]:
    """Every file with something in it starts with a docstring whose first paragraph is a sentence."""
    docstring = ast.get_docstring(source.tree)
    if not source.tree.body:
        return
    paragraph = (docstring or "").partition("\n\n")[0].rstrip()
    if not paragraph.endswith((".", ":", "。", "?")):
        yield Fault("first-sentence", source.path, 1, "start with a docstring whose first sentence says what it is for")


def mirrored_test(source: Source, root: Path) -> Iterator[Fault]:
    """`src/interlock/core/x.py` with code in it has `tests/unit/core/test_x.py` or `test_x_*.py` beside it."""
    if not source.in_package or not any(_does_something(node) for _, node, _ in source.functions):
        return
    below = PurePosixPath(source.path.removeprefix(PACKAGE))
    folder = root / "tests" / "unit" / below.parent
    if (folder / f"test_{below.stem}.py").exists() or any(folder.glob(f"test_{below.stem}_*.py")):
        return
    yield Fault("mirrored-test", source.path, 1, f"its test is tests/unit/{below.parent / f'test_{below.stem}.py'}")


def _does_something(node: FunctionNode) -> bool:
    """Whether a function has a body: a Protocol's methods have a docstring or dots only."""
    return any(not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)) for part in node.body)
