"""What `grpc_tool` takes, with the type of each option, so that a misspelled or misfitting one is refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from interlock.core.errors import SpecInvalid
from interlock.core.http_template import Credential
from interlock.core.tool import (
    ErrorContract,
    Parameter,
)
from interlock.declare.options import SharedOptions, ToolOptions, checked
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


class GrpcOptions(SharedOptions, total=False):
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
    parameters: Sequence[Parameter]


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


def split(options: GrpcOptions) -> tuple[dict[str, Any], ToolOptions]:
    """What is said of the calls, and of the tool, each as its type says. Raises `SpecInvalid`."""
    given: Mapping[str, object] = {**options}
    name = str(given.get("name", "the tool"))
    known = {"descriptor", "parameters", *GRPC_HINTS, *SharedOptions.__annotations__}
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
