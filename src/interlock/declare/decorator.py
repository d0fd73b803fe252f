"""The decorator that makes a Python function a tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, Generic, Never, ParamSpec, TypeVar, Unpack

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.functions import Functions
from interlock.core.spec_check import check_spec
from interlock.core.tool import SHARED, Document, Entrypoint, ToolSpec
from interlock.declare.contract import contract, json_object
from interlock.declare.docs import read_docs
from interlock.declare.fingerprint import fingerprint
from interlock.declare.options import ToolOptions, checked
from interlock.declare.signature import Signature, check_fit, conversions_of, name_of, read_signature

P = ParamSpec("P")
R = TypeVar("R")


class Declared(Generic[P, R]):
    """A function that is also a tool: called, it is the function; given to a gate, it is the tool."""

    __name__: str

    def __init__(self, function: Callable[P, R], options: ToolOptions) -> None:
        self._function = function
        options = checked(options, tool=name_of(function))
        self._options = options
        self._spec = _spec(function, options)
        self.functions = _functions(function, options)
        check_spec(self.spec())
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self._spec["name"])

    @property
    def code(self) -> Functions:
        """What a runner binds: its functions."""
        return self.functions

    @property
    def takes(self) -> dict[str, Json] | None:
        """What its annotations take, where an explicit schema stands in their place and they say it at all."""
        return None if "input_schema" not in self._options else _annotated(self._function).get("takes")

    @property
    def gives(self) -> dict[str, Json] | None:
        """What its return annotation gives, where an explicit schema stands in its place."""
        return None if "output_schema" not in self._options else _annotated(self._function).get("gives")

    def spec(self, *, tenant: str = SHARED, source: str = "python") -> ToolSpec:
        """The tool's contract, for one tenant or for all."""
        return ToolSpec(**self._spec, tenant=tenant, source=source)


def tool(*misplaced: Never, **options: Unpack[ToolOptions]) -> Callable[[Callable[P, R]], Declared[P, R]]:
    """Declare a function as a tool: `@tool(effect="read")`. The options:

    - `effect`: read, idempotent_write, write or destructive; the only one that must be said.
    - `name`, `description`, `version`: those of function and docstring, and "1"; a changed tool needs a new version.
    - `title`, `use_when`, `not_for`, `localized`, `examples` (a title to arguments): words for models and people.
    - `summary` (a template such as "save {draft_id}"), `promises` (a status to a sentence): what people are told.
    - `owner`, `business_owner`, `vendor`, `roles`, `risk`, `external`, `chosen_by`: what policies and people go by.
    - `resource`: `(type, argument or template)`, such as `("Draft", "draft_id")`; `resolve`: gives its attributes and
      its version, which is looked at again just before an effect. `resource_version`: the argument that names the
      version that the caller has seen.
    - `facts`: names of outside facts that policies on it read. `labels`: the most that its results may carry.
    - `key`: the arguments that make two calls the same effect (default: all); `key_lifetime_s`, `caller_key_required`.
    - `reconcile`: looks up whether a lost call happened. `precondition`: says whether it may happen now.
    - `compensate`: the tool that undoes it, itself or its name. `compensate_arguments`: what that one is called with,
      such as `{"order_id": "$result.id"}` (default: the arguments of the same names).
    - `depends_on`: tools beside it that must succeed first.
    - `fallback`: a tool, or its name, that may do instead while this one does not work. `standby`: offer it only then.
    - `resumes`: a call that was done in part, proposed again, is made for its open items only (`Context.open_items`).
    - `errors`: the `ErrorContract`s that it may raise as `ToolFault`. `retry`, `timeout_ms`, `cancellable`.
    - `approval_floor`: the least approval that it demands. `cost`: the most that one call costs, and its tags.
    - `locks`: templates of what must not be touched at once. `concurrency`: how many may run at once (0: any).
    - `secrets`: names of credentials that only the function gets, in its `Context`.
    - `input_schema`, `parameters`: replace what the annotations say. `output_schema`, `output_check` (off, warn,
      strict), `output_bytes_max`: what a result must be. `evidence`: what it may be used for.
    - `cache`: a `CacheRule`, where a result of a read may be given again to the same principal.

    An async generator's pieces are one long text, kept while it comes; a `Binary` is kept whole. What is shown is the
    beginning of the one and a description of the other, with a handle by which all of it is read.

    Schema and descriptions come from type hints and docstring. Raises `SpecInvalid` for an option that there is not or
    that has another type, where the function has a parameter without a type, `*args`, or a signature that does not fit
    an explicit `input_schema`, and for a spec that contradicts itself.
    """
    if misplaced:
        raise SpecInvalid('a tool takes its options by name, and says at least its effect: @tool(effect="read")')

    def declare(function: Callable[P, R]) -> Declared[P, R]:
        return Declared(function, options)

    return declare


def _spec(function: Callable[..., object], options: ToolOptions) -> dict[str, Any]:
    """The fields of the `ToolSpec`, without its tenant and source."""
    docs = read_docs(inspect.getdoc(function))
    signature = _signature(function, options, descriptions=docs.parameters)
    name = options.get("name", name_of(function))
    fields = {"name": name, "description": docs.description, **contract(options, name=name)}
    if not fields["description"]:
        raise SpecInvalid(f"{name}: it has no description; write a docstring")
    return {
        **fields,
        "input_schema": Document.of(signature.input_schema),
        "output_schema": None if signature.output_schema is None else Document.of(signature.output_schema),
        "parameters": tuple(options.get("parameters", signature.parameters)),
        "handler": Entrypoint("python", f"{function.__module__}:{function.__qualname__}", fingerprint(function)),
    }


def _annotated(function: Callable[..., object]) -> dict[str, dict[str, Json]]:
    """The schemas of its annotations; nothing where a parameter has none."""
    try:
        found = read_signature(function, descriptions={})
    except SpecInvalid:
        return {}
    return {"takes": found.input_schema, **({} if found.output_schema is None else {"gives": found.output_schema})}


def _signature(function: Callable[..., object], options: ToolOptions, *, descriptions: Mapping[str, str]) -> Signature:
    explicit = options.get("input_schema")
    if explicit is not None:
        check_fit(function, schema=json_object(explicit))
        return Signature(json_object(explicit), _output(options, None), (), conversions_of(function))
    signature = read_signature(function, descriptions=descriptions)
    return Signature(
        signature.input_schema, _output(options, signature.output_schema), signature.parameters, signature.conversions
    )


def _output(options: ToolOptions, derived: dict[str, Json] | None) -> dict[str, Json] | None:
    explicit = options.get("output_schema", derived)
    return None if explicit is None else json_object(explicit)


def _functions(function: Callable[..., object], options: ToolOptions) -> Functions:
    compensate = options.get("compensate")
    return Functions(
        handler=function,
        reconcile=options.get("reconcile"),
        precondition=options.get("precondition"),
        resolver=options.get("resolve"),
        compensate=compensate if callable(compensate) else None,
        conversions=conversions_of(function),
    )
