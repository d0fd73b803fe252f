"""One Python function of a tool, ready to be called with a call's arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping

from interlock.core.canonical import decode, is_flat
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.functions import Context
from interlock.core.operation import Operation
from interlock.ports import Invocation


class Misfit(Exception):
    """An argument cannot be turned into what the function's annotation says; nothing was called."""


@frozen
class PythonFunction:
    """A function and how to call it. `names` of None means that it takes whatever it is given.

    `is_stream`: it yields its result, piece by piece.
    """

    function: Callable[..., object]
    is_async: bool
    names: frozenset[str] | None
    contexts: tuple[str, ...]
    conversions: tuple[tuple[str, Callable[[object], object]], ...]
    is_stream: bool = False

    def call(self, invocation: Invocation) -> object:
        """What the function gives back: a coroutine, where it is async. Raises `Misfit`, or whatever it raises."""
        values = invocation.operation.values
        if self.names is None and not self.conversions and not self.contexts and is_flat(values):
            return self.function(**values)  # as keywords it gets a copy anyway
        return self.function(**self.arguments(invocation))

    def arguments(self, invocation: Invocation) -> dict[str, object]:
        """A fresh copy of the frozen arguments, as keywords. Raises `Misfit`."""
        arguments = _fresh(invocation.operation)
        if self.names is not None and not arguments.keys() <= self.names:
            arguments = {name: value for name, value in arguments.items() if name in self.names}
        for name, convert in self.conversions:
            if name in arguments:
                arguments[name] = _converted(name, convert, arguments[name])
        for name in self.contexts:
            arguments[name] = context(invocation)
        return arguments


def read_function(
    function: Callable[..., object], *, conversions: Mapping[str, Callable[[object], object]], all_names: bool
) -> PythonFunction:
    """Look at a function once. `all_names`: it must be given every argument, so that one it lacks is a fault."""
    parameters = inspect.signature(function).parameters
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    contexts = _contexts(function)
    wanted = frozenset(parameters) - frozenset(contexts)
    names = None if all_names or takes_all else wanted
    used = tuple((name, convert) for name, convert in conversions.items() if takes_all or name in wanted)
    return PythonFunction(function, _is_async(function), names, contexts, used, inspect.isasyncgenfunction(function))


def check_parameters(function: Callable[..., object], *, properties: frozenset[str], name: str) -> None:
    """Refuse a handler that cannot take what the schema lets through."""
    parameters = inspect.signature(function).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return
    contexts = _contexts(function)
    unknown = sorted(properties - frozenset(parameters))
    if unknown:
        raise SpecInvalid(f"{name}: the schema has {unknown[0]}, but the function has no such parameter")
    for each in parameters.values():
        needed = each.default is inspect.Parameter.empty and each.kind is not inspect.Parameter.VAR_POSITIONAL
        if needed and each.name not in properties and each.name not in contexts:
            raise SpecInvalid(f"{name}: the parameter {each.name} is not in the input schema")


def context(invocation: Invocation) -> Context:
    """What the function may know beside its arguments."""
    operation = invocation.operation
    caller = operation.caller
    return Context(
        principal=caller.principal,
        operation_id=invocation.operation_id,
        key=invocation.key,
        fence=invocation.fence,
        deadline_s=invocation.deadline_s,
        attempt=invocation.attempt,
        run=caller.run,
        task=caller.task,
        resource=operation.resource,
        open_items=invocation.open_items,
        secrets=invocation.secrets,
    )


def _fresh(operation: Operation) -> dict[str, object]:
    """Arguments that a function may change as it likes: decoded anew where a copy would share an object or a list."""
    values = operation.values
    if is_flat(values):
        return {**values}
    decoded = decode(operation.arguments)
    return dict(decoded) if isinstance(decoded, dict) else {}


def _converted(name: str, convert: Callable[[object], object], value: object) -> object:
    try:
        return convert(value)
    except Exception as fault:  # a type's own code may raise anything
        raise Misfit(name) from fault


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _contexts(function: Callable[..., object]) -> tuple[str, ...]:
    """Parameters annotated `Context`; where hints cannot be resolved, those whose annotation is spelled like it."""
    try:
        hints = typing.get_type_hints(inspect.unwrap(function))
    except (NameError, TypeError, AttributeError):
        hints = dict(getattr(function, "__annotations__", {}))
    return tuple(name for name, hint in hints.items() if hint is Context or hint in ("Context", "interlock.Context"))
