"""The engine behind a port: how a view becomes a question to Cedar, and which answers count as answers.

Cedar skips a policy that errors, be it a `forbid`, so an answer with any error is no permission. What is not an answer
at all raises `EngineFault`, which the slice turns into a denial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cedarpy
import orjson

from interlock.core.call import PrincipalKind
from interlock.core.canonical import Json
from interlock.core.errors import InterlockError
from interlock.core.frozen import frozen
from interlock.core.policy_reads import PARENTS
from interlock.core.policy_request import Projection, View, tool_values
from interlock.core.policy_schema import TOOL_TYPE, action_groups, action_name, resource_type
from interlock.core.tool import ToolSpec

_TYPES: Mapping[PrincipalKind, str] = {
    PrincipalKind.HUMAN: "User",
    PrincipalKind.AGENT: "Agent",
    PrincipalKind.SERVICE: "Service",
}
_KEPT_MAX = 256


class EngineFault(InterlockError):
    """The engine gave no usable answer."""


@frozen
class Question:
    """One request with policies and entities, parsed. `request` has Cedar's four parts, its context as JSON text."""

    policies: cedarpy.PolicySet
    request: Mapping[str, Json]
    entities: cedarpy.Entities


@frozen
class Reply:
    """What an engine answers. `satisfied` are the ids of the deciding policies: permits if allowed, else forbids."""

    allowed: bool
    satisfied: tuple[str, ...]
    errors: tuple[str, ...] = ()


Evaluate = Callable[[Question], Reply]


def cedar(question: Question) -> Reply:
    """Ask Cedar."""
    result = cedarpy.is_authorized(dict(question.request), question.policies, question.entities)
    found = result.diagnostics
    return Reply(result.decision is cedarpy.Decision.Allow, tuple(found.reasons), tuple(found.errors))


def checked(reply: object, *, effects: Mapping[str, bool]) -> Reply:
    """The reply, if it is one: of the right types, and in accord with itself. `effects`: id to whether it permits."""
    if not isinstance(reply, Reply) or _types(reply.allowed, reply.satisfied, reply.errors) != (bool, tuple, tuple):
        raise EngineFault("it is no reply")
    if any(each not in effects for each in reply.satisfied):
        raise EngineFault("it names policies that were not asked")
    follows = all(effects[each] is reply.allowed for each in reply.satisfied)
    if not follows or (reply.allowed and not reply.satisfied):
        raise EngineFault("its decision does not follow from its reasons")
    return reply


class Frame:
    """What is constant in all questions about one tool version, and the entities of recent principals, parsed."""

    def __init__(self, spec: ToolSpec, *, tenant: str, read: Projection) -> None:
        action = action_name(spec.name)
        parents: list[Json] = [{"type": "Action", "id": group} for group in action_groups(spec)]
        self._tenant = tenant
        self._action: dict[str, Json] = {"type": "Action", "id": action}
        self._base = _entities({"uid": self._action, "attrs": {}, "parents": parents})
        self._read = read
        self._resource_type = resource_type(spec)
        self._name = spec.name
        self._tool = _member("tool", tool_values(spec, read=read.tool)) if read.tool.fields else b""
        self._entities: dict[tuple[str, str, frozenset[str], str, bytes], cedarpy.Entities] = {}

    def question(self, view: View, *, policies: cedarpy.PolicySet) -> Question:
        """The question that a view is."""
        request: dict[str, Json] = {
            "principal": {"type": _TYPES[view.kind], "id": view.id},
            "action": self._action,
            "resource": {"type": self._resource_type, "id": self._resource_id(view)},
            "context": self.context(view),
        }
        return Question(policies, request, self.entities(view))

    def context(self, view: View, *, unknown: bytes = b"") -> str:
        """The context as JSON text. `unknown` is more of it, ready-made."""
        parts = (self._tool, view.context[1:-1], unknown)
        return (b"{%b}" % b",".join(part for part in parts if part)).decode()

    def partial(self, view: View, *, unknown: bytes, resource: bool) -> dict[str, str | None]:
        """A request some of which is unknown: parts of the context and, if `resource`, the resource."""
        return {
            "principal": _quoted(_TYPES[view.kind], view.id),
            "action": _quoted("Action", str(self._action["id"])),
            "resource": None if resource else _quoted(self._resource_type, self._resource_id(view)),
            "context": self.context(view, unknown=unknown),
        }

    def entities(self, view: View) -> cedarpy.Entities:
        """The principal, the action and the resource of a view."""
        key = view[:5]
        found = self._entities.get(key)
        if found is None:
            if len(self._entities) >= _KEPT_MAX:
                self._entities.clear()
            more = orjson.dumps([self._principal(view), self._resource(view)]).decode()
            found = self._entities[key] = self._base.with_added_json_str(more)
        return found

    def _principal(self, view: View) -> Json:
        groups: list[Json] = [*sorted(view.groups)]
        parents: list[Json] = []
        if PARENTS[-1] in self._read.principal:
            parents = [{"type": "Tenant", "id": self._tenant}, *({"type": "Group", "id": group} for group in groups)]
        attributes: dict[str, Json] = {
            "id": view.id,
            "tenant": self._tenant,
            "kind": view.kind.value,
            "groups": groups,
            "on_behalf_of": view.on_behalf_of,
        }
        return {
            "uid": {"type": _TYPES[view.kind], "id": view.id},
            "attrs": {name: value for name, value in attributes.items() if name in self._read.principal},
            "parents": parents,
        }

    def _resource(self, view: View) -> Json:
        id_ = self._resource_id(view)
        attributes = orjson.loads(view.resource)[1] if view.resource else {}
        uid: Json = {"type": self._resource_type, "id": id_}
        return {"uid": uid, "attrs": {**attributes, "id": id_}, "parents": []}

    def _resource_id(self, view: View) -> str:
        if self._resource_type == TOOL_TYPE:
            return self._name
        return str(orjson.loads(view.resource)[0]) if view.resource else ""


def _entities(*entities: Json) -> cedarpy.Entities:
    return cedarpy.Entities.from_json_str(orjson.dumps(entities).decode())


def _member(name: str, value: Json) -> bytes:
    return b'"%b":%b' % (name.encode(), orjson.dumps(value))


def _types(*values: object) -> tuple[type, ...]:
    return tuple(map(type, values))


def _quoted(type_: str, id_: str) -> str:
    escaped = id_.replace("\\", "\\\\").replace('"', '\\"')
    return f'{type_}::"{escaped}"'
