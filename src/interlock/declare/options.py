"""What the decorator takes, with the type of each option, so that a misspelled or misfitting one is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, cast, get_type_hints

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.labels import Labels
from interlock.core.tool import (
    ApprovalFloor,
    CacheRule,
    ChosenBy,
    Cost,
    ErrorContract,
    Localized,
    OutputCheck,
    Parameter,
    RetryRule,
    Risk,
    ToolSpec,
    Vendor,
)
from interlock.declare.typed_values import check_keys, typed


class SharedOptions(TypedDict, total=False):
    """What every kind of declaration takes; the docstring of `tool` says what each option is for."""

    effect: Effect | str
    name: str
    version: str
    title: str
    description: str
    use_when: str
    not_for: str
    localized: Mapping[str, Localized]
    key: Sequence[str]
    caller_key_required: bool
    key_lifetime_s: int
    resource: tuple[str, str]
    compensate: Callable[..., object] | str
    compensate_arguments: Mapping[str, object]
    input_schema: Mapping[str, object]
    output_schema: Mapping[str, object] | None
    output_check: OutputCheck | str
    output_bytes_max: int
    external: bool
    cancellable: bool
    chosen_by: ChosenBy | str
    risk: Risk | str
    roles: frozenset[str] | Sequence[str]
    labels: Labels
    owner: str
    business_owner: str
    vendor: Vendor
    cost: Cost
    timeout_ms: int
    retry: RetryRule
    locks: Sequence[str]
    depends_on: Sequence[str]
    concurrency: int
    evidence: EvidenceRule | EvidenceKind | str
    approval_floor: ApprovalFloor
    summary: str
    promises: Mapping[str, str]
    facts: Sequence[str]
    examples: Mapping[str, Mapping[str, object]]
    cache: CacheRule
    fallback: Callable[..., object] | str
    standby: bool


class ToolOptions(SharedOptions, total=False):
    """What `tool(...)` takes, all by keyword; its docstring says what each option is for."""

    resource_version: str
    resolve: Callable[..., object]
    reconcile: Callable[..., object]
    precondition: Callable[..., object]
    errors: Sequence[ErrorContract]
    parameters: Sequence[Parameter]
    secrets: Sequence[str]
    resumes: bool


_FUNCTIONS = ("resolve", "reconcile", "precondition")
_DOCUMENTS = ("input_schema", "output_schema")
_HINTS: Mapping[str, Any] = {
    **{name: hint for name, hint in get_type_hints(ToolSpec).items() if name in ToolOptions.__annotations__},
    "key": tuple[str, ...],
    "caller_key_required": bool,
    "key_lifetime_s": int,
    "examples": dict[str, dict[str, Any]],
    "compensate_arguments": dict[str, Any],
}
"""The type of every option that is plain: what `ToolSpec` says of it, or the shorter form of the decorator."""


def checked(options: ToolOptions, *, tool: str) -> ToolOptions:
    """The options as their types say; enums may be given as text, tuples and sets as lists. Raises `SpecInvalid`.

    What does not fit its type would otherwise go wrong where it is used: after the effect, or silently never.
    """
    given: Mapping[str, object] = {**options}
    check_keys(given, ToolOptions.__annotations__, path=f"the options of {tool}")
    return cast(ToolOptions, {name: _value(value, name, path=f"{tool}: {name}") for name, value in given.items()})


def _value(value: object, name: str, *, path: str) -> object:
    if name in _FUNCTIONS:
        return _of(value, callable(value), path=path, wanted="a function")
    if name in _DOCUMENTS:
        return _of(value, value is None or isinstance(value, Mapping), path=path, wanted="a JSON Schema, as a mapping")
    if name in ("compensate", "fallback"):
        return _of(value, callable(value) or isinstance(value, str), path=path, wanted="a function or a tool's name")
    if name == "resource":
        pair = typed(value, tuple[str, ...], path=path)
        return _of(pair, len(pair) == 2, path=path, wanted='a type and an argument, such as ("Draft", "draft_id")')
    if name == "evidence" and isinstance(value, str):
        return typed(value, EvidenceKind, path=path)
    return value if name == "effect" else typed(value, _HINTS[name], path=path)


def _of(value: object, fits: bool, *, path: str, wanted: str) -> object:
    if not fits:
        raise SpecInvalid(f"{path}: it must be {wanted}")
    return value
