"""A function is looked at once, and called with what it has parameters for."""

import functools

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.functions import Context
from interlock.declare import tool
from interlock.runners.python_function import Misfit, check_parameters, read_function
from tests.execution import invocation_of

pytestmark = pytest.mark.anyio


@tool(effect="read")
async def look_up(word: str, limit: int = 3) -> str:
    """Look up."""
    return word


async def test_functions_beside_the_handler_get_only_what_they_have_parameters_for() -> None:
    def beside(word: str, seen_by: Context) -> tuple[str, str]:
        return word, seen_by.principal.id

    function = read_function(beside, conversions={}, all_names=False)
    assert function.call(invocation_of(look_up, {"word": "x"})) == ("x", "alice")


async def test_a_function_of_any_keywords_gets_all() -> None:
    def beside(**given: object) -> dict[str, object]:
        return given

    function = read_function(beside, conversions={"word": lambda each: [each]}, all_names=False)
    assert function.call(invocation_of(look_up, {"word": "x", "limit": 1})) == {"word": ["x"], "limit": 1}


async def test_an_argument_that_cannot_be_converted_is_named_and_nothing_is_called() -> None:
    def convert(value: object) -> object:
        raise ZeroDivisionError

    called: list[str] = []

    def beside(word: str) -> None:
        called.append(word)

    function = read_function(beside, conversions={"word": convert}, all_names=True)
    with pytest.raises(Misfit, match="word"):
        function.call(invocation_of(look_up, {"word": "x"}))
    assert called == []


def test_async_functions_are_known_however_they_are_wrapped() -> None:
    class Callable:
        async def __call__(self, word: str) -> None: ...

    async def act(word: str) -> None: ...

    def now(word: str) -> None: ...

    for each in (act, functools.partial(act), Callable()):
        assert read_function(each, conversions={}, all_names=True).is_async
    assert not read_function(now, conversions={}, all_names=True).is_async


def test_a_handler_without_a_parameter_for_a_property_or_with_one_too_many_is_refused() -> None:
    def act(word: str, more: int) -> None: ...

    with pytest.raises(SpecInvalid, match="limit"):
        check_parameters(act, properties=frozenset({"word", "limit", "more"}), name="act")
    with pytest.raises(SpecInvalid, match="more"):
        check_parameters(act, properties=frozenset({"word"}), name="act")
    check_parameters(act, properties=frozenset({"word", "more"}), name="act")
    check_parameters(lambda **given: given, properties=frozenset({"word"}), name="act")
