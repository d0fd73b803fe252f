"""What the Python code of a tool is made of, what it is told, and what it may give back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol

from interlock.core.call import Principal
from interlock.core.evidence import Source
from interlock.core.frozen import frozen
from interlock.core.items import Items
from interlock.core.labels import Labels
from interlock.core.resource import Resource
from interlock.core.tool import SHARED, ToolSpec


@frozen
class Context:
    """What a handler may ask for beside its arguments, by a parameter annotated `Context`.

    `key` is stable over all attempts at one operation: send it on to systems that know idempotency keys. `fence` rises
    with every claim: a system that remembers the highest one it saw can refuse a late writer. `deadline_s` is on the
    event loop's clock; `attempt` counts from 1. `secrets` are values by name, for this call only. `open_items`, where
    there are any, are all that is left to do of a call that was done in part.
    """

    principal: Principal
    operation_id: str
    key: str
    fence: int
    deadline_s: float
    attempt: int = 1
    run: str | None = None
    task: str | None = None
    resource: Resource | None = None
    open_items: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


@frozen
class Result:
    """A handler's value with what it knows of it. Returning the bare value is the same as `Result(value)`.

    `labels` of None means the labels that the tool declares. `cost_micros` and `tokens` report usage; where neither is
    given the declared cost is charged whole. `open_items` names the items that did not work: the outcome is partial.
    `items` say how each stands, done or not: recipients with how it was delivered to each, for example.
    """

    value: object
    sources: tuple[Source, ...] = ()
    labels: Labels | None = None
    cost_micros: int | None = None
    tokens: int | None = None
    resource_version: str | None = None
    data_version: str = ""
    data_time_us: int | None = None
    open_items: tuple[str, ...] = ()
    items: Items = ()


@frozen
class Binary:
    """A handler's value that is no text: kept whole, and shown as what it is, how long, and by which handle it is read.

    `media_type` is one of IANA's, such as `image/png`.
    """

    data: bytes
    media_type: str = "application/octet-stream"
    name: str = ""


@frozen
class Functions:
    """The Python functions of one tool, each sync or async.

    The handler takes all of the call's arguments as keywords, the others those that they have parameters for.

    `reconcile` gives a value (it happened), None (it did not), or raises (it cannot tell). `precondition` gives None or
    True (go on), False, or a sentence that says why not. `resolver` gives the `Resource`. `conversions`, by parameter,
    turn a JSON value into what the parameter is annotated with.
    """

    handler: Callable[..., object]
    reconcile: Callable[..., object] | None = None
    precondition: Callable[..., object] | None = None
    resolver: Callable[..., object] | None = None
    compensate: Callable[..., object] | None = None
    conversions: Mapping[str, Callable[[object], object]] = field(default_factory=dict)


class Declaration(Protocol):
    """A tool as a host declares it, by a decorator, a call or a manifest: its contract, and what runs it."""

    @property
    def code(self) -> object:
        """What runs it, for the runner of its handler's kind: `Functions` for one of the kind `python`."""

    def spec(self, *, tenant: str = SHARED, source: str = "python") -> ToolSpec:
        """Its contract, for one tenant or for all."""
