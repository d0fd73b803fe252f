"""What `grpc_tool` takes, with the type of each option, so that a misspelled or misfitting one is refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, cast

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.http_template import Credential
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
    Vendor,
)
from interlock.declare.options import ToolOptions, checked
from interlock.declare.typed_values import check_keys, typed


@dataclass(frozen=True, slots=True)
class GrpcLookUp:
    """The call that looks a lost operation up, at the tool's target. OK says that it happened.

    `fields` maps fields of its message to arguments of the tool; "" is the operation's key. `not_happened` are the
    statuses that prove that nothing happened, such as NOT_FOUND; any other proves nothing.
    """

    method: str
    fields: Mapping[str, str] = field(default_factory=dict)
    not_happened: tuple[str, ...] = ()


class GrpcOptions(TypedDict, total=False):
    """What `grpc_tool(...)` takes, all by keyword; its docstring says what each option is for."""

    target: str
    method: str
    descriptor: str | Path | bytes
    reflection: bool
    plaintext: bool
    required: Sequence[str]
    metadata: Mapping[str, str]
    credentials: Sequence[Credential]
    errors: Mapping[str, ErrorContract]
    reconcile: GrpcLookUp
    key_metadata: str
    fence_metadata: str
    connect_timeout_ms: int
    message_bytes_max: int
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
    compensate: str
    compensate_arguments: Mapping[str, object]
    cache: CacheRule
    parameters: Sequence[Parameter]
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


GRPC_HINTS: Mapping[str, Any] = {
    "target": str,
    "method": str,
    "reflection": bool,
    "plaintext": bool,
    "required": tuple[str, ...],
    "metadata": dict[str, str],
    "credentials": tuple[Credential, ...],
    "errors": dict[str, ErrorContract],
    "reconcile": GrpcLookUp,
    "key_metadata": str,
    "fence_metadata": str,
    "connect_timeout_ms": int,
    "message_bytes_max": int,
}
"""The options that say how a tool is called, but for its descriptor; all others are those of any tool."""

_OF_FUNCTIONS = frozenset({"resolve", "precondition", "secrets", "resource_version"})
"""Options of functions that a call has no place for; its secrets are those of its credentials."""


def split(options: GrpcOptions) -> tuple[dict[str, Any], ToolOptions]:
    """What is said of the calls, and of the tool, each as its type says. Raises `SpecInvalid`."""
    given: Mapping[str, object] = {**options}
    name = str(given.get("name", "the tool"))
    known = {"descriptor", *GRPC_HINTS, *ToolOptions.__annotations__} - _OF_FUNCTIONS
    check_keys(given, known, path=f"the options of {name}")
    for needed in ("name", "description", "target", "method"):
        if not given.get(needed):
            raise SpecInvalid(f"{name}: say its {needed}")
    grpc = {
        each: typed(given[each], hint, path=f"{name}: {each}") for each, hint in GRPC_HINTS.items() if each in given
    }
    if ("descriptor" in given) == bool(grpc.get("reflection")):
        raise SpecInvalid(f"{name}: give its descriptor, or reflection=True, and not both")
    if "descriptor" in given:
        grpc["descriptor"] = _bytes(given["descriptor"], name=name)
    own = {"descriptor", *GRPC_HINTS}
    rest = cast(ToolOptions, {each: value for each, value in given.items() if each not in own})
    return grpc, checked(rest, tool=name)


def _bytes(given: object, *, name: str) -> bytes:
    if isinstance(given, bytes):
        return given
    if not isinstance(given, str | Path):
        raise SpecInvalid(f"{name}: descriptor is a FileDescriptorSet, or the file that it is in")
    try:
        return Path(given).read_bytes()
    except OSError as fault:
        raise SpecInvalid(f"{name}: the descriptor {given} cannot be read: {fault.strerror}") from fault
