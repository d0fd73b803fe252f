"""Reads from the options of a declaration, of whatever kind, the fields of the spec that they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from interlock.core.canonical import Json
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.tool import Document, ErrorContract, Example, IdempotencyRule, ResourceRule
from interlock.declare.options import ToolOptions
from interlock.declare.signature import name_of

WAIT_MS_MAX = 86_400_000

_TUPLES = ("errors", "locks", "depends_on", "secrets", "facts")
_AS_GIVEN = (
    "name version title description use_when not_for localized output_check output_bytes_max external cancellable "
    "chosen_by risk labels owner business_owner vendor cost timeout_ms retry concurrency approval_floor summary "
    "promises cache resource_version standby resumes"
).split()


def contract(options: ToolOptions, *, name: object) -> dict[str, Any]:
    """The fields of a `ToolSpec` that checked options say, but for its schemas, parameters and what runs it.

    `name` is the tool's, for what is refused. Raises `SpecInvalid`.
    """
    given: Mapping[str, Any] = {**options}
    return {
        **{name: given[name] for name in _AS_GIVEN if name in given},
        **{name: tuple(given[name]) for name in _TUPLES if name in given},
        **_derived(options),
        "effect": _effect(name, options),
    }


def json_object(given: Mapping[str, object]) -> dict[str, Json]:
    """A document as it was written; `Document` refuses whatever in it is no JSON."""
    return cast(dict[str, Json], dict(given))


def one_meaning(contracts: Iterable[ErrorContract]) -> tuple[ErrorContract, ...]:
    """The error codes of a tool; several statuses may mean the same one. Raises `SpecInvalid` where one means two."""
    found: dict[str, ErrorContract] = {}
    for each in contracts:
        if found.setdefault(each.code, each) != each:
            raise SpecInvalid(f"errors: the code {each.code} means two things")
    return tuple(found.values())


def check_waits(*waits_ms: int) -> None:
    """Raises `SpecInvalid` where one is no time that a server may take."""
    if not all(0 < each <= WAIT_MS_MAX for each in waits_ms):
        raise SpecInvalid(f"a wait must be 1 to {WAIT_MS_MAX} ms")


def _effect(name: object, options: ToolOptions) -> Effect:
    if "effect" not in options:
        raise SpecInvalid(f"{name}: say its effect: read, idempotent_write, write or destructive")
    try:
        return Effect(options["effect"])
    except ValueError:
        raise SpecInvalid(f"{name}: effect is read, idempotent_write, write or destructive") from None


def _named(tool: Callable[..., object] | str) -> str:
    """The name of another tool, given itself or by name."""
    return tool if isinstance(tool, str) else str(getattr(tool, "name", name_of(tool)))


def _derived(options: ToolOptions) -> dict[str, Any]:
    """The fields that options say in a shorter form."""
    compensate, evidence = options.get("compensate", ""), options.get("evidence", EvidenceRule())
    undone_with = options.get("compensate_arguments")
    resource = options.get("resource")
    lifetime_s = options.get("key_lifetime_s", IdempotencyRule().lifetime_s)
    examples = options.get("examples", {}).items()
    return {
        "idempotency": IdempotencyRule(
            tuple(options.get("key", ())), options.get("caller_key_required", False), lifetime_s
        ),
        "resource": None if resource is None else ResourceRule(*resource, resolved="resolve" in options),
        "reconcile": "reconcile" in options,
        "precondition": "precondition" in options,
        "compensate": _named(compensate),
        "fallback": _named(options.get("fallback", "")),
        "compensate_arguments": None if undone_with is None else Document.of(json_object(undone_with)),
        "roles": frozenset(options.get("roles", ())),
        "evidence": EvidenceRule(evidence) if isinstance(evidence, EvidenceKind) else evidence,
        "examples": tuple(Example(title, Document.of(json_object(arguments))) for title, arguments in examples),
    }
