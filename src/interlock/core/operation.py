"""The frozen operation: the one value that policy, approval, execution and audit use.

The digest is SHA-256 over the RFC 8785 form (integers exact) of tenant, principal, tool, version, spec digest and final
arguments, so equal bytes mean equal typed values. The idempotency key is made of trusted values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from interlock.core.call import Caller, ToolCall
from interlock.core.canonical import Json, canonical, sha256_hex
from interlock.core.catalogue import Tool
from interlock.core.frozen import frozen
from interlock.core.resource import Resource
from interlock.core.tool import ToolSpec


@frozen
class Operation:
    """What will run, to the byte. `arguments` is canonical JSON; `values` the same decoded, never handed out to change.

    `key` is the idempotency key of an effect, `keyed` whether that key is the caller's own or run and position. Where
    there is one, `model_digest` covers only what the model supplied: with equal ones it proposes the same again.
    """

    call: ToolCall
    caller: Caller
    tool: Tool
    arguments: bytes
    values: Mapping[str, Json]
    digest: str
    model_digest: str
    resource: Resource | None = None
    key: str | None = None
    keyed: bool = False

    @property
    def spec(self) -> ToolSpec:
        """The spec of the tool version that runs."""
        return self.tool.spec


def operation_digest(caller: Caller, tool: Tool, arguments: bytes) -> str:
    """The operation digest (hex). `arguments` is canonical already, so the outer form is canonical too."""
    principal, spec = caller.principal, tool.spec
    behalf = principal.acting_for or principal.id  # `on_behalf_of` spelled out: every call comes by
    whose = _whose(principal.tenant, principal.id, behalf, spec.name, spec.version, tool.digest)
    return sha256_hex(b'{"arguments":' + arguments + whose)


@lru_cache(maxsize=4_096)
def _whose(*texts: str) -> bytes:
    """What follows the arguments in the form that the digest is taken of: the same for many calls."""
    return b',"of":%b,"spec":"%b"}' % (canonical([*texts[:-1]]), texts[-1].encode())


@lru_cache(maxsize=4_096)
def _head(*texts: str) -> bytes:
    """Whose effect it is, in which scope, and of which tool: few among many calls."""
    return canonical([*texts])


def idempotency_key(caller: Caller, spec: ToolSpec, values: Mapping[str, Json]) -> tuple[str, bool] | None:
    """The key of an effect and whether it is the call's own, or None where nothing trusted can make one.

    Scope is the caller's key, else the business task, else run and position. A caller's key says all of it. Otherwise
    the tool's key fields say which arguments make it the same effect; within a task a tool that declares none takes
    all of them: a task may use a tool twice.
    """
    scope = _scope(caller)
    if scope is None or (spec.idempotency.caller_key_required and caller.key is None):
        return None
    fields: Json = None
    if scope[0] == "key":
        fields = None
    elif spec.idempotency.fields:
        fields = [values.get(name) for name in spec.idempotency.fields]
    elif scope[0] == "task":
        fields = dict(values)
    principal = caller.principal
    whose = _head(principal.tenant, principal.on_behalf_of, *scope, spec.name)
    return sha256_hex(b"%b,%b]" % (whose[:-1], canonical(fields))), scope[0] != "task"


def _scope(caller: Caller) -> tuple[str, ...] | None:
    if caller.key is not None:
        return ("key", caller.task or "", caller.key)
    if caller.task is not None:
        return ("task", caller.task)
    if caller.run is not None:
        return ("run", caller.run, str(caller.turn), str(caller.position))
    return None
