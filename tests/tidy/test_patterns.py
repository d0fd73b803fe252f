"""No pattern is possessive by itself: CPython 3.11.0 to 3.11.4, which are promised, match those wrongly."""

import ast
from collections.abc import Iterator
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]

ROOT = Path(__file__).resolve().parents[2]
OWN_WORDS = {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}


def patterns(tree: ast.AST) -> Iterator[tuple[int, str | bytes]]:
    """What is written into calls of `re`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re")), args=[ast.Constant(value=str() | bytes() as pattern), *_]
            ):
                yield node.lineno, pattern
            case _:
                pass


def is_possessive(pattern: str | bytes) -> bool:
    return any(word in str(_parser.parse(pattern)) for word in OWN_WORDS)


def test_possessive_patterns_are_told_from_others() -> None:
    assert is_possessive(r"(?:a|b)*+")
    assert is_possessive("(?>a|b)c")
    assert not is_possessive(r"[*+]+x*")


def test_no_pattern_is_possessive_by_itself() -> None:
    seen = 0
    for file in sorted({*(ROOT / "src").rglob("*.py")} - {ROOT / "src/interlock/models/possessive.py"}):
        for line, pattern in patterns(ast.parse(file.read_text(encoding="utf-8"))):
            seen += 1
            assert not is_possessive(pattern), f"{file.relative_to(ROOT)}:{line}: write it by models.possessive"
    assert seen > 50
