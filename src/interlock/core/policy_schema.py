"""The Cedar schema generated from the catalogue, against which every policy is validated when it is saved.

`cedar-policy-mcp-schema-generator` was tried and is not used: it makes one action per tool from a stub, with the input
as its context, and carries neither effect groups, nor a resource type of each tool, nor the rest of `context`; and an
own generator is needed anyhow, because requests are built from the same types (`policy_values`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from interlock.core.canonical import Json
from interlock.core.effect import Effect
from interlock.core.errors import PolicyInvalid
from interlock.core.frozen import frozen
from interlock.core.listed import Contract
from interlock.core.policy_arguments import arguments_type
from interlock.core.policy_values import (
    BOOLEAN,
    DATETIME,
    LONG,
    STRING,
    STRINGS,
    Record,
    record,
    type_schema,
)

EFFECT_GROUP = "effect"
ANY_GROUP = "any"
GROUPS = frozenset({*(effect.value for effect in Effect), EFFECT_GROUP, ANY_GROUP})
TOOL_TYPE = "Tool"
PRINCIPAL_TYPES = ("User", "Agent", "Service")

PRINCIPAL = record(id=STRING, tenant=STRING, kind=STRING, groups=STRINGS, on_behalf_of=STRING)
RESOURCE_ID = record(id=STRING)
TOOL = record(
    name=STRING,
    version=STRING,
    effect=STRING,
    risk=LONG,
    external=BOOLEAN,
    confidentiality=LONG,
    owner=STRING,
    vendor=STRING,
    source=STRING,
    tags=STRINGS,
)
RUN = record(confidentiality=LONG, trust=LONG, origins=STRINGS, tools=STRINGS)

_EMPTY = Record()
_PREFIX = "tool:"
_IDENTIFIER = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*\Z")
_TAKEN = frozenset(
    {*PRINCIPAL_TYPES, TOOL_TYPE, "Group", "Tenant", "Action", "String", "Long", "Bool", "Boolean", "Set", "Record"}
    | {"Entity", "Extension", "EntityOrCommon", "decimal", "datetime", "duration", "ipaddr"}
    | {"true", "false", "if", "then", "else", "in", "is", "like", "has", "_"}
)


@frozen
class OpenTypes:
    """What no schema declares: outside facts, and the attributes of resources by type. Policies imply their types."""

    facts: Record = _EMPTY
    attributes: Mapping[str, Record] = field(default_factory=dict)


NOTHING_OPEN = OpenTypes()


def action_name(tool: str) -> str:
    """The id of a tool's action. A tool that is called like a group of actions (`read`) becomes `tool:read`."""
    return _PREFIX + tool if tool in GROUPS or tool.startswith(_PREFIX) else tool


def action_groups(spec: Contract) -> tuple[str, ...]:
    """The groups of actions that the tool's action is in."""
    effect = (EFFECT_GROUP,) if spec.effect.is_effect else ()
    return (spec.effect.value, *effect, ANY_GROUP)


def resource_type(spec: Contract) -> str:
    """The entity type of what the tool touches; `Tool` where it declares none."""
    if spec.resource is None:
        return TOOL_TYPE
    name = spec.resource.type
    if name in _TAKEN or not _IDENTIFIER.match(name):
        raise PolicyInvalid(
            f"tool {spec.name!r}: its resource type {name!r} is taken or no identifier: rename the type"
        )
    return name


def resource_attributes(type_: str, *, open_types: OpenTypes) -> Record:
    """The attributes of a resource of this type: `id`, and what its resolver gives, as far as policies read it."""
    others = open_types.attributes.get(type_, Record()).fields
    return Record((*RESOURCE_ID.fields, *(each for each in others if each.name != "id")))


def context_type(spec: Contract, *, facts: Record) -> Record:
    """The type of `context` for calls of this tool."""
    return record(
        args=arguments_type(spec.input_schema),
        tool=TOOL,
        run=RUN,
        agent=STRING,
        door=STRING,
        environment=STRING,
        now=DATETIME,
        facts=facts,
    )


def cedar_schema(
    specs: Iterable[Contract], *, open_types: OpenTypes = NOTHING_OPEN, types: Iterable[str] = ()
) -> dict[str, Json]:
    """A Cedar schema (JSON format) for these tools, of which each name occurs once. `types` adds resource types."""
    actions: dict[str, Json] = {group: {} for group in sorted(GROUPS)}
    types = {TOOL_TYPE, *types}
    for spec in specs:
        types.add(resource_type(spec))
        actions[action_name(spec.name)] = _action(spec, open_types)
    return {"": {"entityTypes": _entity_types(types, open_types), "actions": actions}}


def _action(spec: Contract, open_types: OpenTypes) -> Json:
    groups: list[Json] = [{"id": group} for group in action_groups(spec)]
    applies: dict[str, Json] = {
        "principalTypes": [*PRINCIPAL_TYPES],
        "resourceTypes": [resource_type(spec)],
        "context": type_schema(context_type(spec, facts=open_types.facts)),
    }
    return {"memberOf": groups, "appliesTo": applies}


def _entity_types(types: Iterable[str], open_types: OpenTypes) -> dict[str, Json]:
    who: dict[str, Json] = {"shape": type_schema(PRINCIPAL), "memberOfTypes": ["Group", "Tenant"]}
    entities: dict[str, Json] = {"Group": {}, "Tenant": {}, **dict.fromkeys(PRINCIPAL_TYPES, who)}
    for type_ in sorted(types):
        entities[type_] = {"shape": type_schema(resource_attributes(type_, open_types=open_types))}
    return entities
