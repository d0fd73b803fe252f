"""Methods of a desk under their names at whoever holds the desk, so that one thing can be made of several."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Concatenate, Generic, ParamSpec, TypeVar, cast, overload

D = TypeVar("D")
P = ParamSpec("P")
R = TypeVar("R")


class Held(Generic[D, P, R]):
    """`move = Held("moving", Moving.move)`: called on a holder it is that of its `moving`; of the class it is the
    function itself, with its words and types.
    """

    def __init__(self, desk: str, method: Callable[Concatenate[D, P], R]) -> None:
        self.desk = desk
        self.method = method

    @overload
    def __get__(self, holder: None, kind: type) -> Callable[Concatenate[D, P], R]: ...
    @overload
    def __get__(self, holder: object, kind: type) -> Callable[P, R]: ...
    def __get__(self, holder: object, kind: type) -> Callable[Concatenate[D, P], R] | Callable[P, R]:
        if holder is None:
            return self.method
        return cast(Callable[P, R], MethodType(self.method, getattr(holder, self.desk)))
