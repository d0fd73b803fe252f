"""From a proposal's raw arguments to the frozen operation: parse, default, inject, validate, freeze, in that order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import cast

from interlock.core.arguments import Unparsed, parse_arguments
from interlock.core.call import Caller, ToolCall
from interlock.core.canonical import Json, canonical, integral, sha256_hex
from interlock.core.catalogue import Tool
from interlock.core.errors import SchemaInvalid
from interlock.core.frozen import frozen, maker
from interlock.core.operation import Operation, idempotency_key, operation_digest
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import Parameter, ResourceRule

make_operation = maker(Operation)


@frozen
class Unfrozen:
    """Why the arguments make no operation."""

    code: Code
    message: str
    details: Mapping[str, Json] = field(default_factory=dict)


def freeze(call: ToolCall, caller: Caller, tool: Tool) -> Operation | Unfrozen:
    """The operation, its digest taken over the final arguments. What is frozen here is what runs."""
    parsed = parse_arguments(call.arguments)
    if isinstance(parsed, Unparsed):
        code = Code.TOOL_ARGUMENT_INVALID if parsed.not_an_object else Code.INVALID_JSON
        return Unfrozen(code, parsed.reason)
    supplied = cast("dict[str, Json]", integral(parsed))
    if tool.users and not caller.user_requested:
        claimed = sorted(tool.users & supplied.keys())
        if claimed:
            return _supplied_by_model(claimed[0])
    try:
        values = tool.input.with_defaults(supplied)
    except SchemaInvalid as too_much:
        return Unfrozen(Code.TOOL_ARGUMENT_INVALID, f"The arguments cannot be completed: {too_much}.")
    if tool.injected:
        injected = _injected(tool.injected, caller, supplied)
        if isinstance(injected, Unfrozen):
            return injected
        values = {**values, **injected}
    if not tool.input.is_valid(values):
        return _invalid(tool, values)
    return _frozen(call, caller, tool, supplied=supplied, values=values)


def _frozen(
    call: ToolCall, caller: Caller, tool: Tool, *, supplied: dict[str, Json], values: dict[str, Json]
) -> Operation | Unfrozen:
    spec = tool.spec
    arguments = canonical(values)
    resource = None if spec.resource is None else resource_of(spec.resource, values)
    if spec.resource is not None and resource is None:
        return Unfrozen(Code.TOOL_ARGUMENT_INVALID, f"The arguments name no {spec.resource.type}.")
    key = idempotency_key(caller, spec, values) if spec.effect.is_effect else None
    return make_operation(
        call,
        caller,
        tool,
        arguments,
        values,
        operation_digest(caller, tool, arguments),
        sha256_hex(arguments if supplied is values else canonical(supplied)),
        resource,
        None if key is None else key[0],
        False if key is None else key[1],
    )


def resource_of(rule: ResourceRule, values: Mapping[str, Json]) -> Resource | None:
    """The resource that these arguments name, its id in canonical form, or None where they name none."""
    name = filled(rule.id if "{" in rule.id else f"{{{rule.id}}}", values)
    return None if name is None else Resource(rule.type, canonical_id(name))


def canonical_id(name: str) -> str:
    """One spelling for one resource: `./a//b/../c` is `a/c`; a leading `/` stays; `..` never climbs above the root."""
    if "/" not in name and name not in (".", ".."):
        return name
    parts: list[str] = []
    for part in name.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return ("/" if name.startswith("/") else "") + "/".join(parts)


def filled(template: str, values: Mapping[str, Json]) -> str | None:
    """A template such as `{account}/{draft_id}` over top-level arguments; None where one is missing or no scalar."""
    out: list[str] = []
    for index, piece in enumerate(template.replace("}", "{").split("{")):
        if index % 2 == 0:
            out.append(piece)
            continue
        value = values.get(piece)
        if isinstance(value, bool) or not isinstance(value, str | int):
            return None
        out.append(str(value))
    return "".join(out)


def with_resource(operation: Operation, resource: Resource) -> Operation:
    """The same operation with what a resolver knows of its resource; the canonical id is the resolver's to refine."""
    return replace(operation, resource=resource)


def _injected(
    parameters: tuple[Parameter, ...], caller: Caller, supplied: Mapping[str, Json]
) -> dict[str, Json] | Unfrozen:
    values: dict[str, Json] = {}
    for parameter in parameters:
        if parameter.name in supplied:
            return _supplied_by_model(parameter.name)
        value = _trusted(parameter.inject or parameter.name, caller)
        if value is None:
            return Unfrozen(Code.CONTEXT_MISSING, f"The session lacks {parameter.inject or parameter.name}.")
        values[parameter.name] = value
    return values


def _supplied_by_model(name: str) -> Unfrozen:
    error: Json = {"path": f"/{name}", "keyword": "injected", "expected": "absent", "hint": f"leave {name} out"}
    return Unfrozen(Code.TOOL_ARGUMENT_INVALID, f"{name} is not yours to supply.", {"validation_errors": [error]})


def _trusted(name: str, caller: Caller) -> Json:
    principal = caller.principal
    if name.startswith("claims."):
        return principal.claims.get(name.removeprefix("claims."))
    known: dict[str, str | None] = {
        "tenant": principal.tenant,
        "tenant_id": principal.tenant,
        "principal": principal.id,
        "on_behalf_of": principal.on_behalf_of,
        "run": caller.run,
        "task": caller.task,
    }
    return known.get(name)


def _invalid(tool: Tool, values: dict[str, Json]) -> Unfrozen:
    violations = tool.input.violations(values)
    errors: list[Json] = [
        {"path": each.path, "keyword": each.keyword, "expected": each.expected, "hint": each.hint}
        for each in violations
    ]
    first = violations[0].hint if violations else "they do not fit"
    return Unfrozen(
        Code.TOOL_ARGUMENT_INVALID, f"The arguments do not fit the schema: {first}.", {"validation_errors": errors}
    )
