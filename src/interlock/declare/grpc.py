"""Declares a gRPC tool: one method whose message is made of the arguments, and what the statuses of it mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from interlock.core.errors import SpecInvalid
from interlock.core.grpc_answer import read_status
from interlock.core.grpc_call import KIND, GrpcCall, GrpcCode, LookUpCall, read_target
from interlock.core.http_template import Credential, CredentialPlace, Template
from interlock.core.spec_check import check_spec
from interlock.core.tool import SHARED, Document, Entrypoint, ToolSpec
from interlock.declare.contract import check_waits, contract, json_object, one_meaning
from interlock.declare.grpc_options import GrpcLookUp, GrpcOptions, split
from interlock.declare.http_request import HttpRequest, is_header, template_of
from interlock.declare.options import ToolOptions

try:
    from interlock.declare.grpc_descriptor import Described, described
    from interlock.declare.grpc_reflection import reflected
    from interlock.declare.grpc_schema import schema_of
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("gRPC tools need an extra: pip install 'interlock[grpc]'", name=missing.name) from missing

if TYPE_CHECKING:
    from google.protobuf.descriptor import MethodDescriptor

MESSAGE_BYTES_LIMIT = 64 * 1024 * 1024

_NAME = re.compile(r"(?!grpc-)[0-9a-z_.-]+(?<!-bin)")
_PLACED = re.compile(r"\{([^{}]*)\}")


class GrpcTool:
    """A declared gRPC tool, to be given to a gate."""

    def __init__(self, options: GrpcOptions) -> None:
        grpc, rest = split(options)
        self.name: str = rest["name"]
        try:
            self._code, schema = _code(grpc)
            self._spec = _spec(rest, code=self._code, schema=_narrowed(schema, rest, grpc.get("required", ())))
        except SpecInvalid as fault:
            raise SpecInvalid(f"{self.name}: {fault}") from fault
        self._takes = schema if rest.get("input_schema") else None
        check_spec(self.spec())

    @property
    def takes(self) -> dict[str, Any] | None:
        """What its message takes, where an explicit schema stands in its place."""
        return self._takes

    @property
    def gives(self) -> None:
        """What a method gives is read by its message, whatever the schema says."""

    @property
    def code(self) -> GrpcCode:
        """Its calls, their messages, and what the statuses mean."""
        return self._code

    def spec(self, *, tenant: str = SHARED, source: str = KIND) -> ToolSpec:
        """The tool's contract, for one tenant or for all."""
        return ToolSpec(**self._spec, tenant=tenant, source=source)


def grpc_tool(**options: Unpack[GrpcOptions]) -> GrpcTool:
    """Declare a gRPC tool: `grpc_tool(name="read_order", target="dns:///example.com:443", ...)`. Its own options:

    - `name`, `description`, `effect`, `target`, `method`: must be said. `target` is `dns:///host:port`, and literal;
      `method` is `/package.Service/Method`, of one message, answered by one or by a stream of them.
    - `descriptor`: a FileDescriptorSet (protoc --include_imports --descriptor_set_out), as bytes or the file that it is
      in; its comments (--include_source_info) describe arguments. Or `reflection`: the target is asked for it, now.
    - `required`: arguments that must be given, besides those of `key` and `resource`. No field of proto3 is, by itself.
    - `plaintext`: without TLS, for a server on this machine or behind a mesh: credentials are readable on the way.
    - `credentials`: a `Credential` (bearer, basic or header) for each secret of the host's, sent to the target only.
    - `metadata`: what is always sent besides.
    - `errors`: what a status means, by its name, as an `ErrorContract`. Undeclared, one leaves an effect unknown.
    - `reconcile`: a `GrpcLookUp`, the call that looks up whether a lost effect happened.
    - `key_metadata` (`idempotency-key`), `fence_metadata` (`interlock-fence`): those of an effect; "" sends none.
    - `connect_timeout_ms`: one wait for a connection. `message_bytes_max`: the size of one message (4 MiB).

    All others are those of `tool`, but for those of its Python code (`resolve`, `precondition`, `secrets`, ...); an
    `input_schema` of your own replaces the one of the message. Raises `SpecInvalid`.
    """
    return GrpcTool(options)


def _code(grpc: Mapping[str, Any]) -> tuple[GrpcCode, dict[str, Any]]:
    """What runs the tool, and the schema of its message."""
    origin = read_target(grpc["target"], scheme="http" if grpc.get("plaintext") else "https")
    data = reflected(origin, grpc["method"]) if grpc.get("reflection") else grpc["descriptor"]
    known = described(data)
    template = template_of(
        HttpRequest("POST", f"{origin}{grpc['method']}", (), "", grpc.get("metadata", {}), grpc.get("credentials", ()))
    )
    method = known.method(grpc["method"])
    found: GrpcLookUp | None = grpc.get("reconcile")
    look_up = None if found is None else _look_up(found, template, known=known, of=method)
    methods = [method, *([] if found is None else [known.method(found.method)])]
    code = GrpcCode(
        _call(method, template),
        known.encoded(*[each for one in methods for each in (one.input_type, one.output_type)]),
        tuple((read_status(status), contract) for status, contract in grpc.get("errors", {}).items()),
        look_up,
        **{name: grpc[name] for name in _PLAIN if name in grpc},
    )
    _check_numbers(code)
    _check_metadata(code)
    return code, schema_of(method.input_type, comments=known.comments)


_PLAIN = ("key_metadata", "fence_metadata", "connect_timeout_ms", "message_bytes_max")


def _call(method: MethodDescriptor, template: Template) -> GrpcCall:
    takes, gives = str(method.input_type.full_name), str(method.output_type.full_name)
    return GrpcCall(template, takes, gives, method.server_streaming)


def _look_up(look_up: GrpcLookUp, template: Template, *, known: Described, of: MethodDescriptor) -> LookUpCall:
    """The call of a look-up, at the tool's target, with its credentials and no other arguments than the tool has."""
    method = known.method(look_up.method)
    if method.server_streaming:
        raise SpecInvalid("reconcile: a look-up is answered by one message")
    fields, arguments = _names(method), _names(of)
    for name, argument in look_up.fields.items():
        if name not in fields or argument not in {"", *arguments}:
            raise SpecInvalid(
                f"reconcile: {name!r} is no field of the look-up, or {argument!r} no argument of the tool"
            )
    place = Template(
        "POST", template.origin, look_up.method, headers=template.headers, credentials=template.credentials
    )
    statuses = tuple(map(read_status, look_up.not_happened))
    return LookUpCall(_call(method, place), tuple(look_up.fields.items()), statuses)


def _names(method: MethodDescriptor) -> set[str]:
    return {str(field.json_name) for field in method.input_type.fields}


def _check_numbers(code: GrpcCode) -> None:
    check_waits(code.connect_timeout_ms)
    if not 0 < code.message_bytes_max <= MESSAGE_BYTES_LIMIT:
        raise SpecInvalid(f"message_bytes_max must be 1 to {MESSAGE_BYTES_LIMIT}")


def _check_metadata(code: GrpcCode) -> None:
    """Those of key and fence are the gate's to set: they keep an effect from happening twice."""
    request = code.call.request
    if any(each.place in (CredentialPlace.QUERY, CredentialPlace.COOKIE) for each in request.credentials):
        raise SpecInvalid("a credential of gRPC is bearer, basic, or a header of its own name")
    ours = [name.lower() for name in (code.key_metadata, code.fence_metadata) if name]
    named = [name.lower() for name, _ in request.headers]
    named += [each.name.lower() for each in request.credentials if each.name]
    wrong = [name for name in (*ours, *named) if not _NAME.fullmatch(name)]
    if wrong or not all(map(is_header, ours)):
        raise SpecInvalid(f"{' and '.join(wrong or ours)} is no metadata that a tool may send")
    if len({*ours, *named}) < len(ours) + len(named):
        raise SpecInvalid(f"{' and '.join(ours)} are metadata of the gate; each name is set once")


def _narrowed(schema: dict[str, Any], options: ToolOptions, required: Iterable[str]) -> Mapping[str, Any]:
    """The schema of the tool: the message's own, or one that was given, with what must be there."""
    given = options.get("input_schema")
    if given is not None:
        properties = given.get("properties")
        known = set(properties) if isinstance(properties, Mapping) else set()
        if not known <= schema["properties"].keys() or given.get("additionalProperties") is not False:
            raise SpecInvalid(
                "input_schema: its properties are fields of the message, and additionalProperties is false"
            )
        return given
    resource = options.get("resource", ("", ""))[1]
    placed = _PLACED.findall(resource) if "{" in resource else [resource] * bool(resource)
    must = dict.fromkeys([*schema.get("required", ()), *options.get("key", ()), *placed, *required])
    unknown = must.keys() - schema["properties"].keys()
    if unknown:
        raise SpecInvalid(f"the message has no field {min(unknown)}; they are {', '.join(schema['properties'])}")
    return {**schema, "required": [*must]}


def _spec(options: ToolOptions, *, code: GrpcCode, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the `ToolSpec`, without its tenant and source."""
    output = options.get("output_schema")
    return {
        **contract(options, name=options["name"]),
        "input_schema": Document.of(json_object(schema)),
        "output_schema": None if output is None else Document.of(json_object(output)),
        "parameters": tuple(options.get("parameters", ())),
        "errors": one_meaning(contract for _, contract in code.statuses),
        "secrets": _secrets(code.call.request.credentials),
        "reconcile": code.look_up is not None,
        "handler": Entrypoint(KIND, code.call.target, code.fingerprint),
    }


def _secrets(credentials: Iterable[Credential]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in credentials for name in each.secrets))
