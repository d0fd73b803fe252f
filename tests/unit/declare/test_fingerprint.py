"""Other code has another fingerprint; the same code always has the same."""

from collections.abc import Callable

from interlock.declare.fingerprint import fingerprint


def first(a: int) -> int:
    return a + 1


def second(a: int) -> int:
    return a + 2


def made(text: str) -> Callable[..., object]:
    """A function that has no source to be found."""
    names: dict[str, Callable[..., object]] = {}
    exec(text, names)
    return names["act"]


def test_code_with_source_is_told_apart_by_it() -> None:
    assert fingerprint(first) == fingerprint(first)
    assert len({fingerprint(first), fingerprint(second)}) == 2


def test_code_without_source_is_told_apart_by_its_bytecode_nested_functions_included() -> None:
    texts = [
        "def act(a): return a + 1",
        "def act(a): return a + 2",
        "def act(a): return lambda: 1",
        "def act(a): return b",
    ]
    prints = {fingerprint(made(text)) for text in texts}
    assert len(prints) == 4
    assert fingerprint(made(texts[0])) in prints
    assert fingerprint(made(texts[2])) in prints


def test_a_callable_object_has_one_too() -> None:
    assert len(fingerprint(len)) == 64
