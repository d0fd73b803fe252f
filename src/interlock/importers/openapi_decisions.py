"""What a person decided about one operation, and the tool that comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_type_hints

from interlock.core.canonical import Json
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.http_template import HttpError, Place, origin_of_target
from interlock.core.labels import Labels, Trust
from interlock.core.schema import compile_schema
from interlock.declare.http import HttpTool
from interlock.declare.http_options import HttpOptions
from interlock.declare.http_request import HttpParameter
from interlock.declare.typed_values import check_keys
from interlock.importers.openapi_names import refuse_own
from interlock.importers.openapi_operations import Read, declared, input_schema
from interlock.importers.openapi_security import bound
from interlock.importers.snapshots import read_said

_OWN: Mapping[str, Any] = {
    "allow": bool,
    "name": str,
    "effect": Effect,
    "version": str,
    "hide": tuple[str, ...],
    "fix": dict[str, Any],
    "narrow": dict[str, dict[str, Any]],
    "nothing_happened": tuple[int, ...],
    "digest": str,
    "read": dict[str, str],
}
_OF_REQUESTS = frozenset("method url parameters body headers credentials errors input_schema output_schema".split())
_OPTIONS = frozenset(get_type_hints(HttpOptions)) - _OF_REQUESTS - _OWN.keys()
"""Options of `http_tool` that a person may say in a snapshot: all but those that the document says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One operation in a snapshot. `read` is what was read when it was decided, for people; `digest` covers it.

    `hide` names arguments that are never sent, `fix` gives those that always have one value, `narrow` adds a JSON
    Schema to others. `nothing_happened` are declared statuses that prove it. `options` are any others of `http_tool`.
    """

    allow: bool = False
    name: str
    effect: Effect
    version: str = "1"
    hide: tuple[str, ...] = ()
    fix: Mapping[str, Json] = field(default_factory=dict)
    narrow: Mapping[str, dict[str, Json]] = field(default_factory=dict)
    nothing_happened: tuple[int, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    digest: str
    read: Mapping[str, str] = field(default_factory=dict)


def read_decision(given: object, *, path: str) -> Decision:
    """A decision as a snapshot says it. Raises `SpecInvalid` naming what it does not know."""
    own, options = read_said(given, own=_OWN, options=_OPTIONS, needed=("name", "effect", "digest"), path=path)
    return Decision(**own, options=options)


def decided(read: Read, decision: Decision, *, owner: str, secrets: Mapping[str, str]) -> HttpTool:
    """The tool that a person allowed. Raises `SpecInvalid` where the decision does not fit what was read."""
    refuse_own(decision.name)
    _check_names(read, decision)
    fixed, hidden = decision.fix, decision.hide
    parameters = tuple(_narrowed(each, decision) for each in read.parameters if each.name not in hidden)
    for name, value in fixed.items():
        _check_fixed(name, value, read)
    schema = input_schema(parameters, read.definitions)
    schema["required"] = [name for name in schema["required"] if name not in fixed]
    missing = sorted({name for name, _ in read.schemes} - secrets.keys())
    if missing:
        raise SpecInvalid(f"the snapshot names no secret for the security scheme {missing[0]}")
    tool = declared(
        read,
        **{
            "owner": owner,
            "labels": Labels(trust=Trust.UNTRUSTED, origins=frozenset({_origin(read)})),
            **decision.options,
            "name": decision.name,
            "effect": decision.effect,
            "version": decision.version,
            "parameters": parameters,
            "input_schema": schema,
            "credentials": tuple(bound(credential, secrets[name]) for name, credential in read.schemes),
            "errors": tuple(_proving(each, decision) for each in read.options["errors"]),
        },
    )
    compile_schema(schema)
    return tool


def _origin(read: Read) -> str:
    return origin_of_target(f"{read.options['method']} {read.options['url']}")


def _check_names(read: Read, decision: Decision) -> None:
    known = {each.name: each for each in read.parameters}
    for place, names in (("hide", decision.hide), ("fix", decision.fix), ("narrow", decision.narrow)):
        check_keys(dict.fromkeys(names), known, path=place)
    for name in decision.hide:
        if name in decision.fix:
            raise SpecInvalid(f"hide: {name} is fixed as well; a fixed one is sent, a hidden one is not")
        if known[name].required or known[name].place is Place.PATH:
            raise SpecInvalid(f"hide: {name} must be sent; fix it instead")
    declared_statuses = {each.status for each in read.options["errors"]}
    unknown = sorted(set(decision.nothing_happened) - declared_statuses)
    if unknown:
        raise SpecInvalid(f"nothing_happened: the status {unknown[0]} is no declared error")


def _check_fixed(name: str, value: Json, read: Read) -> None:
    schema = next(dict(each.schema) for each in read.parameters if each.name == name)
    compiled = compile_schema({**schema, "$defs": read.definitions} if read.definitions else schema)
    for wrong in compiled.violations(value)[:1]:
        raise SpecInvalid(f"fix: {name} does not fit the document: {wrong.hint}")


def _narrowed(parameter: HttpParameter, decision: Decision) -> HttpParameter:
    """The parameter with what the snapshot adds. A fixed one is filled in, so who approves sees it as it is sent."""
    schema: dict[str, Json] = dict(parameter.schema)
    if parameter.name in decision.narrow:
        parts = schema.get("allOf", [])
        schema["allOf"] = [*(parts if isinstance(parts, list) else []), decision.narrow[parameter.name]]
    if parameter.name in decision.fix:
        value = decision.fix[parameter.name]
        schema = {**schema, "const": value, "default": value}
    return replace(parameter, schema=schema)


def _proving(error: HttpError, decision: Decision) -> HttpError:
    proves: Iterable[int] = decision.nothing_happened
    return HttpError(error.status, error.code, error.retryable, error.status in proves, error.description)
