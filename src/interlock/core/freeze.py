"""From a proposal's raw arguments to the frozen operation: parse, default, inject, validate, freeze, in that order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache

from interlock.core.arguments import Unparsed, careful_arguments, plain_arguments
from interlock.core.call import Caller, ToolCall
from interlock.core.canonical import Json, canonical, flat_canonical, sha256_hex
from interlock.core.catalogue import Tool
from interlock.core.errors import SchemaInvalid
from interlock.core.frozen import frozen
from interlock.core.operation import Operation, idempotency_key, operation_digest
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ResourceRule


@frozen
class Unfrozen:
    """Why the arguments make no operation."""

    code: Code
    message: str
    details: Mapping[str, Json] = field(default_factory=dict)


Given = tuple[dict[str, Json], dict[str, Json], bytes]
"""What the model supplied, the same with all that is added to it, and that in its canonical form."""


def freeze(call: ToolCall, caller: Caller, tool: Tool) -> Operation | Unfrozen:
    """The operation, its digest taken over the final arguments. What is frozen here is what runs."""
    plain = plain_arguments(call.arguments)
    supplied = careful_arguments(call.arguments) if plain is None else plain
    if isinstance(supplied, Unparsed):
        code = Code.TOOL_ARGUMENT_INVALID if supplied.not_an_object else Code.INVALID_JSON
        return Unfrozen(code, supplied.reason)
    if tool.users and not caller.user_requested:
        claimed = sorted(tool.users & supplied.keys())
        if claimed:
            return _supplied_by_model(claimed[0])
    try:
        values = tool.input.with_defaults(supplied)
    except SchemaInvalid as too_much:
        return Unfrozen(Code.TOOL_ARGUMENT_INVALID, f"The arguments cannot be completed: {too_much}.")
    if tool.injected:
        for each in tool.injected:
            if each.name in supplied:
                return _supplied_by_model(each.name)
        injected = injected_of(tool, caller)
        if isinstance(injected, Unfrozen):
            return injected
        values = {**values, **injected}
    if not tool.input.is_valid(values):
        return _invalid(tool, values)
    arguments = flat_canonical(values) if values is plain else canonical(values)
    return _frozen(call, caller, tool, given=(supplied, values, arguments))


def _frozen(call: ToolCall, caller: Caller, tool: Tool, *, given: Given) -> Operation | Unfrozen:
    spec = tool.spec
    supplied, values, arguments = given
    resource = None if spec.resource is None else resource_of(spec.resource, values)
    if spec.resource is not None and resource is None:
        return Unfrozen(Code.TOOL_ARGUMENT_INVALID, _unnamed(spec.resource, values))
    key = idempotency_key(caller, spec, values) if spec.effect.is_effect else None
    return Operation(
        call,
        caller,
        tool,
        arguments,
        values,
        operation_digest(caller, tool, arguments),
        "" if key is None else sha256_hex(arguments if supplied is values else canonical(supplied)),
        resource,
        None if key is None else key[0],
        False if key is None else key[1],
    )


def resource_of(rule: ResourceRule, values: Mapping[str, Json]) -> Resource | None:
    """The resource that these arguments name, its id in canonical form, or None where they do not name just one.

    An argument that is the whole id may be a path, which does not climb out of where it starts. In a template each
    argument fills its own part, and what it holds cannot be taken for another part: the handler gets the parts, policy
    judges the whole.
    """
    pieces = _pieces(rule.id)
    is_whole = len(pieces) == 3 and not pieces[0] and not pieces[2]
    value = values.get(pieces[1]) if is_whole else None
    if type(value) is str and "/" not in value and ".." not in value and value != ".":
        return Resource(rule.type, value)  # as most are
    if not is_whole and not all(_is_part(values.get(name), before=text) for name, text in _parts(pieces)):
        return None
    name = _joined(pieces, values)
    return None if name is None or _climbs_out(name) else Resource(rule.type, canonical_id(name))


def _unnamed(rule: ResourceRule, values: Mapping[str, Json]) -> str:
    if _joined(_pieces(rule.id), values) is None:
        return f"The arguments name no {rule.type}."
    return f"The arguments do not name one {rule.type}: a part of a name holds no '/', and a path does not climb out."


def arguments_of(rule: ResourceRule) -> frozenset[str]:
    """The names of the arguments that name the resource."""
    return frozenset(_pieces(rule.id)[1::2])


@lru_cache(maxsize=4_096)
def _pieces(rule_id: str) -> tuple[str, ...]:
    """Text, argument, text, argument, ..., text."""
    return _split(rule_id) if "{" in rule_id else ("", rule_id, "")


def _parts(pieces: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each argument with the text between it and the next; empty for the last one."""
    return zip(pieces[1::2], (*pieces[2:-1:2], ""), strict=True)


def _is_part(value: Json, *, before: str) -> bool:
    """Whether this can be one part of an id that ends where the text `before` the next part begins."""
    part = str(value)
    ends_there = not before or (part + before).find(before) == len(part)
    return "/" not in part and part not in ("", ".", "..") and ends_there


def _climbs_out(path: str) -> bool:
    """Whether some beginning of the path leads above where it starts."""
    if ".." not in path:
        return False
    depth = 0
    for part in path.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False


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
    return _joined(_split(template), values)


def _split(template: str) -> tuple[str, ...]:
    return tuple(template.replace("}", "{").split("{"))


def _joined(pieces: tuple[str, ...], values: Mapping[str, Json]) -> str | None:
    out: list[str] = []
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            out.append(piece)
            continue
        value = values.get(piece)
        if isinstance(value, bool) or not isinstance(value, str | int):
            return None
        out.append(str(value))
    return "".join(out)


def injected_of(tool: Tool, caller: Caller) -> dict[str, Json] | Unfrozen:
    """What the trusted context adds to the arguments of this tool."""
    values: dict[str, Json] = {}
    for parameter in tool.injected:
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
