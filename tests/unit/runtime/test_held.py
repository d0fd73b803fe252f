"""A method that is held acts as that of its desk, and the class shows the function with its words and types."""

import inspect

from interlock.runtime.held import Held


class Desk:
    def __init__(self, name: str) -> None:
        self.name = name

    async def act(self, what: str, *, twice: bool = False) -> str:
        """Do it."""
        return f"{self.name}: {what * (1 + twice)}"


class Holder:
    def __init__(self) -> None:
        self._one, self._two = Desk("one"), Desk("two")

    act = Held("_one", Desk.act)
    other = Held("_two", Desk.act)


async def test_it_is_called_on_the_desk_that_is_named() -> None:
    assert await Holder().act("x") == "one: x"
    assert await Holder().other("x", twice=True) == "two: xx"


def test_the_class_gives_the_function_itself() -> None:
    assert Holder.act is Desk.act
    assert (inspect.getdoc(Holder().act), [*inspect.signature(Holder().act).parameters]) == (
        "Do it.",
        ["what", "twice"],
    )
