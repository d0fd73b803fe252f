"""A request cut down to what a slice reads: the view, which is all that the engine sees and what decisions are kept by.

Because the engine is built from the view alone, two requests with equal views cannot be decided differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import orjson

from interlock.core.call import PrincipalKind
from interlock.core.canonical import Json
from interlock.core.frozen import frozen
from interlock.core.policy_reads import PARENTS, Path, below
from interlock.core.policy_schema import (
    PRINCIPAL,
    RUN,
    TOOL,
    TOOL_TYPE,
    OpenTypes,
    context_type,
    resource_attributes,
    resource_type,
)
from interlock.core.policy_terms import PolicyRequest
from interlock.core.policy_values import STRINGS, Field, Record, Unfit, convert_fields, instant, prune
from interlock.core.run import RunFacts
from interlock.core.tool import ToolSpec

_PRINCIPAL = Record((*PRINCIPAL.fields, Field(PARENTS[-1], STRINGS)))
_NO_GROUPS: frozenset[str] = frozenset()

_new = tuple.__new__  # what every call makes: a class of tuples has a constructor of its own, which is slow


class View(NamedTuple):
    """What a slice sees of one request. What it does not read is empty.

    A named tuple, since it is the key of remembered decisions and hashed for each call; every place holds one type
    only. `resource` and `context` are JSON.
    """

    kind: PrincipalKind
    id: str
    groups: frozenset[str]
    on_behalf_of: str
    resource: bytes
    context: bytes


@frozen
class Projection:
    """What the policies of one slice read of a request; a record of None is not read at all.

    `principal` holds names of attributes, and `parents`; `groups` says whether either of them needs the groups.
    """

    principal: frozenset[str]
    groups: bool
    resource_id: bool
    attributes: Record | None
    args: Record | None
    facts: Record | None
    run: frozenset[str]
    plain: tuple[str, ...]
    tool: Record

    @property
    def reads_time(self) -> bool:
        """Whether the moment matters, so that no decision may be kept."""
        return "now" in self.plain

    @property
    def reads_resource(self) -> bool:
        """Whether it matters which resource is touched."""
        return self.resource_id or self.attributes is not None

    @property
    def reads_caller_alone(self) -> bool:
        """Whether nothing matters but who calls and what its run has read."""
        return self.args is None and self.facts is None and not self.plain and not self.reads_resource

    @property
    def reads_unknowns(self) -> bool:
        """Whether it reads what a listing of tools does not know."""
        reads_given = self.args is not None or self.facts is not None
        return reads_given or self.reads_time or self.reads_resource or bool(self.run)

    def view(self, request: PolicyRequest) -> View | Unfit:
        """The view of a request, or why a value that is read is missing or of another type."""
        resource = self._resource(request) if self.reads_resource else b""
        if isinstance(resource, Unfit):
            return resource
        context = self._context(request)
        if isinstance(context, Unfit):
            return context
        principal, read = request.principal, self.principal
        return _new(
            View,
            (
                principal.kind,
                principal.id if "id" in read else "",
                principal.groups if self.groups else _NO_GROUPS,
                principal.on_behalf_of if "on_behalf_of" in read else "",
                resource,
                context,
            ),
        )

    def _resource(self, request: PolicyRequest) -> bytes | Unfit:
        resource = request.resource
        if resource is None:
            return Unfit("the resource is not resolved")
        attributes = convert_fields(resource.attributes, to=self.attributes or Record(), at="resource")
        if isinstance(attributes, Unfit):
            return attributes
        return orjson.dumps([resource.id if self.resource_id else "", attributes])

    def _context(self, request: PolicyRequest) -> bytes | Unfit:
        parts: dict[str, Json] = {}
        if self.args is not None:
            args = convert_fields(request.arguments, to=self.args, at="context.args")
            if isinstance(args, Unfit):
                return args
            parts["args"] = args
        if self.facts is not None:
            facts = convert_fields(request.facts, to=self.facts, at="context.facts")
            if isinstance(facts, Unfit):
                return facts
            parts["facts"] = facts
        if self.run:
            parts["run"] = _run(request.run, self.run)
        for name in self.plain:
            value = _plain(name, request)
            if isinstance(value, Unfit):
                return value
            parts[name] = value
        return orjson.dumps(parts) if parts else b""


def projection(spec: ToolSpec, *, paths: Iterable[Path], open_types: OpenTypes) -> Projection:
    """What of a request for this tool lies on the paths."""
    paths = frozenset(paths)
    context = prune(context_type(spec, facts=open_types.facts), paths=below(paths, root=("context",)))
    type_ = resource_type(spec)
    resource = prune(resource_attributes(type_, open_types=open_types), paths=below(paths, root=("resource",)))
    attributes = Record(tuple(each for each in resource.fields if each.name != "id"))
    whose = _names(prune(_PRINCIPAL, paths=below(paths, root=("principal",))))
    return Projection(
        principal=whose,
        groups=not whose.isdisjoint({"groups", PARENTS[-1]}),
        resource_id=type_ != TOOL_TYPE and resource.field("id") is not None,
        attributes=attributes if attributes.fields else None,
        args=_part(context, "args"),
        facts=_part(context, "facts"),
        run=_names(_part(context, "run") or Record()),
        plain=tuple(sorted(_names(context) & {"agent", "door", "environment", "now"})),
        tool=_part(context, "tool") or Record(),
    )


def tool_values(spec: ToolSpec, *, read: Record) -> dict[str, Json]:
    """`context.tool`, as far as it is read: constant for a version."""
    names = _names(read)
    return {name: _OF_TOOL[name](spec) for name in TOOL_NAMES if name in names}


_OF_TOOL: Mapping[str, Callable[[ToolSpec], Json]] = {
    "name": lambda spec: spec.name,
    "version": lambda spec: spec.version,
    "effect": lambda spec: spec.effect.value,
    "risk": lambda spec: int(spec.risk),
    "external": lambda spec: spec.external,
    "confidentiality": lambda spec: int(spec.labels.confidentiality),
    "owner": lambda spec: spec.owner,
    "vendor": lambda spec: spec.vendor.name,
    "source": lambda spec: spec.source,
    "tags": lambda spec: [*sorted(spec.cost.tags)],
}
TOOL_NAMES = tuple(each.name for each in TOOL.fields)
RUN_NAMES = tuple(each.name for each in RUN.fields)


def _run(run: RunFacts, read: frozenset[str]) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for name in RUN_NAMES:
        if name in read:
            values[name] = _of_run(name, run)
    return values


def _of_run(name: str, run: RunFacts) -> Json:
    match name:
        case "confidentiality":
            return int(run.labels.confidentiality)
        case "trust":
            return int(run.labels.trust)
        case "origins":
            return [*sorted(run.labels.origins)]
        case _:
            return [*sorted(run.tools)]


def _plain(name: str, request: PolicyRequest) -> Json | Unfit:
    match name:
        case "agent":
            return request.origin.agent
        case "door":
            return request.origin.door
        case "environment":
            return request.environment
        case _:
            return instant(request.now_us)


def _part(context: Record, name: str) -> Record | None:
    field = context.field(name)
    return field.type if field is not None and isinstance(field.type, Record) else None


def _names(record: Record) -> frozenset[str]:
    return frozenset(each.name for each in record.fields)
