"""Writes a frozen operation down to be resumed, recovered or replayed, and reads it back against today's catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from interlock.core.call import Caller, Origin, Principal, PrincipalKind, ToolCall
from interlock.core.canonical import Json, canonical, decode, stored_json
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.decision import Deny, closed_to, unrouted
from interlock.core.errors import StoreError
from interlock.core.freeze import Unfrozen, injected_of
from interlock.core.lifecycle import Lifecycle, Use, refusal
from interlock.core.operation import Operation, operation_digest
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.routing import Missing, located

BROKEN = "a stored operation cannot be read"
_FIELDS = frozenset("arguments caller call tool version spec digest model_digest resource key keyed".split())


def seal(operation: Operation) -> bytes:
    """The operation as JSON bytes; `arguments` is text, so that its bytes come back as they were."""
    resource = operation.resource
    return stored_json(
        {
            "arguments": operation.arguments.decode(),
            "caller": _told(operation.caller),
            "call": {"id": operation.call.id, "expectation": operation.call.expectation},
            "tool": operation.spec.name,
            "version": operation.spec.version,
            "spec": operation.tool.digest,
            "digest": operation.digest,
            "model_digest": operation.model_digest,
            "resource": None if resource is None else [resource.type, resource.id],
            "key": operation.key,
            "keyed": operation.keyed,
        }
    )


def _told(caller: Caller) -> dict[str, Json]:
    """Field by field: reading them off the class took longer than all else that sealing does."""
    principal, origin = caller.principal, caller.origin
    groups: list[Json] = [*sorted(principal.groups)]
    return {
        "principal": {
            "tenant": principal.tenant,
            "id": principal.id,
            "kind": str(principal.kind),
            "groups": groups,
            "acting_for": principal.acting_for,
            "actor": principal.actor,
            "claims": {**principal.claims},
        },
        "run": caller.run,
        "task": caller.task,
        "key": caller.key,
        "turn": caller.turn,
        "position": caller.position,
        "deadline_ms": caller.deadline_ms,
        "origin": {
            "door": origin.door,
            "agent": origin.agent,
            "model": origin.model,
            "trace_id": origin.trace_id,
            "actor": origin.actor,
        },
        "user_requested": caller.user_requested,
        "pin": caller.pin,
    }


def thaw(
    sealed: bytes, catalogue: Catalogue, *, principal: Principal | None = None, use: Use = Use.CALL
) -> Operation | Deny:
    """The same operation, to the byte, on the tool version that it was frozen for; `principal` is the caller of today.

    Denied where that version is not open to this use any more, or where the name means another one to that caller (its
    code is asked whatever the name means by now), or where the context of today would have other values injected. A
    retired version is no reason yet: what was done of it is told again, and `decide` refuses the rest. Raises
    `StoreError` where the bytes are none that `seal` wrote.
    """
    fields = _fields(sealed)
    caller = _caller(_object(fields["caller"]), principal)
    name = str(fields["tool"])
    tool: Tool | Missing | None = catalogue.pinned(caller.principal.tenant, name, digest=str(fields["spec"]))
    if use is not Use.CODE:
        tool = located(name, caller, catalogue)
    if tool is None or isinstance(tool, Missing):
        return unrouted(tool, caller, name=name)
    if tool.digest != fields["spec"]:
        return Deny(Code.APPROVAL_MISMATCH, f"{name} has changed since.", tool=tool)
    if refusal(tool.state, use) is not None and tool.state is not Lifecycle.RETIRED:
        return closed_to(tool, name=name)
    arguments = str(fields["arguments"]).encode()
    if operation_digest(caller, tool, arguments) != fields["digest"]:
        return Deny(Code.APPROVAL_MISMATCH, "The stored operation is not the one that was frozen.", tool=tool)
    call = _object(fields["call"])
    resource = fields["resource"]
    values = _object(decode(arguments))
    if principal is not None and not has_injected(tool, caller, values):
        return Deny(Code.APPROVAL_MISMATCH, f"What the session adds to {name} has changed since.", tool=tool)
    return Operation(
        call=ToolCall(str(call["id"]), name, arguments, _text_or_none(call["expectation"])),
        caller=caller,
        tool=tool,
        arguments=arguments,
        values=values,
        digest=str(fields["digest"]),
        model_digest=str(fields["model_digest"]),
        resource=Resource(str(resource[0]), str(resource[1])) if isinstance(resource, list) else None,
        key=_text_or_none(fields["key"]),
        keyed=fields["keyed"] is True,
    )


def thaw_to_ask(sealed: bytes, catalogue: Catalogue) -> Operation | Deny:
    """The operation, for the tool version that it ran on to be asked what became of it."""
    return thaw(sealed, catalogue, use=Use.CODE)


def as_called_by(sealed: bytes, catalogue: Catalogue, *, principal: Principal) -> Operation | Deny:
    """The operation as if this principal had proposed it: for policy to say whether they could, never to be run."""
    operation = thaw(sealed, catalogue)
    if isinstance(operation, Deny):
        return operation
    caller = replace(operation.caller, principal=principal)
    if not has_injected(operation.tool, caller, operation.values):
        return Deny(Code.PERMISSION_DENIED, "It takes values that this session does not have.", tool=operation.tool)
    return replace(operation, caller=caller)


def has_injected(tool: Tool, caller: Caller, values: Mapping[str, Json]) -> bool:
    """Whether these arguments hold what the context of this caller injects, of the same types."""
    injected = injected_of(tool, caller)
    if isinstance(injected, Unfrozen):
        return False
    return canonical({**injected}) == canonical({name: values.get(name) for name in injected})


def caller_of(sealed: bytes) -> Caller:
    """Who proposed a stored operation, as it was then."""
    return _caller(_object(_fields(sealed)["caller"]), None)


def arguments_of(sealed: bytes) -> bytes:
    """The frozen arguments of a stored operation, as canonical JSON."""
    return str(_fields(sealed)["arguments"]).encode()


def _fields(sealed: bytes) -> dict[str, Json]:
    try:
        fields = _object(decode(sealed))
    except ValueError as broken:
        raise StoreError(BROKEN) from broken
    if not fields.keys() >= _FIELDS:
        raise StoreError(BROKEN)
    return fields


def _caller(fields: dict[str, Json], principal: Principal | None) -> Caller:
    try:
        origin = _object(fields["origin"])
        return Caller(
            principal=principal or _principal(_object(fields["principal"])),
            run=_text_or_none(fields["run"]),
            task=_text_or_none(fields["task"]),
            key=_text_or_none(fields["key"]),
            turn=_number(fields["turn"]),
            position=_number(fields["position"]),
            deadline_ms=None if fields["deadline_ms"] is None else _number(fields["deadline_ms"]),
            origin=Origin(**{name: str(value) for name, value in origin.items()}),
            user_requested=fields["user_requested"] is True,
            pin=_text_or_none(fields.get("pin")),
        )
    except (KeyError, TypeError, ValueError) as broken:
        raise StoreError(BROKEN) from broken


def _principal(fields: dict[str, Json]) -> Principal:
    groups = fields["groups"]
    claims = {name: value for name, value in _object(fields["claims"]).items() if isinstance(value, str | int | bool)}
    return Principal(
        tenant=str(fields["tenant"]),
        id=str(fields["id"]),
        kind=PrincipalKind(str(fields["kind"])),
        groups=frozenset(str(each) for each in groups) if isinstance(groups, list) else frozenset(),
        acting_for=_text_or_none(fields["acting_for"]),
        actor=str(fields.get("actor") or ""),
        claims=claims,
    )


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise StoreError(BROKEN)
    return value


def _number(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not a number")
    return value


def _text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None
