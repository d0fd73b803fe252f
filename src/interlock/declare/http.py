"""Declares an HTTP tool: one request that is fixed but for its arguments, and what the answers to it mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from interlock.core.errors import SpecInvalid
from interlock.core.http_template import BodyKind, Credential, HttpCode, HttpError, Place, Template
from interlock.core.spec_check import check_spec
from interlock.core.tool import SHARED, Document, Entrypoint, ErrorContract, ToolSpec
from interlock.declare.contract import check_waits, contract, json_object, one_meaning
from interlock.declare.http_options import HttpLookUp, HttpOptions, split
from interlock.declare.http_request import HttpParameter, HttpRequest, is_header, schema_of, template_of
from interlock.declare.options import ToolOptions

_PLAIN = ("key_header", "fence_header", "connect_timeout_ms", "read_timeout_ms")


class HttpTool:
    """A declared HTTP tool, to be given to a gate."""

    def __init__(self, options: HttpOptions) -> None:
        http, rest = split(options)
        self.name: str = rest["name"]
        self._takes = schema_of(http.get("parameters", ())) if rest.get("input_schema") else None
        try:
            self._code = _code(http)
            self._spec = _spec(http, rest, code=self._code)
        except SpecInvalid as fault:
            raise SpecInvalid(f"{self.name}: {fault}") from fault
        check_spec(self.spec())

    @property
    def code(self) -> HttpCode:
        """Its requests, and what the answers mean."""
        return self._code

    @property
    def takes(self) -> dict[str, Any] | None:
        """What its parameters take, where an explicit schema stands in their place."""
        return self._takes

    @property
    def gives(self) -> None:
        """Nothing is known of what a server gives."""

    def spec(self, *, tenant: str = SHARED, source: str = "http") -> ToolSpec:
        """The tool's contract, for one tenant or for all."""
        return ToolSpec(**self._spec, tenant=tenant, source=source)


def http_tool(**options: Unpack[HttpOptions]) -> HttpTool:
    """Declare an HTTP tool: `http_tool(name="read_order", method="GET", url="https://...", ...)`. Its own options:

    - `name`, `description`, `effect`, `method`, `url`: must be said. Scheme, host and port of `url` are literal.
    - `parameters`: an `HttpParameter` for each argument; those in the path stand as `{name}` in `url`.
    - `body`: json, form or multipart. `headers`: those that are always sent.
    - `credentials`: a `Credential` for each secret of the host's; sent to the origin of `url` and to no other.
    - `errors`: what a status means, as an `HttpError`. Undeclared, one that is no success leaves an effect unknown.
    - `reconcile`: an `HttpLookUp`, the request that looks up whether a lost effect happened.
    - `key_header` (`Idempotency-Key`), `fence_header` (`Interlock-Fence`): the headers of an effect; "" sends none.
    - `connect_timeout_ms`, `read_timeout_ms`: one wait for the network; `timeout_ms` bounds the whole attempt.

    All others are those of `tool`, but for those of its Python code (`resolve`, `precondition`, `secrets`, ...).
    Redirects are followed for reads only. Raises `SpecInvalid`.
    """
    return HttpTool(options)


def _code(http: Mapping[str, Any]) -> HttpCode:
    request = template_of(
        HttpRequest(
            http["method"],
            http["url"],
            http.get("parameters", ()),
            http.get("body", BodyKind.NONE),
            http.get("headers", {}),
            http.get("credentials", ()),
        )
    )
    look_up: HttpLookUp | None = http.get("reconcile")
    code = HttpCode(
        request,
        _statuses(http.get("errors", ())),
        None if look_up is None else _look_up(look_up, request, known=http.get("parameters", ())),
        *(((), "", False) if look_up is None else _proofs(look_up)),
        **{name: http[name] for name in _PLAIN if name in http},
    )
    check_waits(code.connect_timeout_ms, code.read_timeout_ms)
    _check_ours(code)
    return code


def _proofs(look_up: HttpLookUp) -> tuple[tuple[int, ...], str, bool]:
    """What an answer to the look-up proves. Raises `SpecInvalid` for what could never be read."""
    if look_up.found_at and not look_up.found_at.startswith("/"):
        raise SpecInvalid("reconcile: found_at is a JSON pointer, such as /items/0")
    if look_up.absence_proves and not look_up.found_at:
        raise SpecInvalid("reconcile: absence_proves needs found_at, the place where nothing would be")
    if any(200 <= status < 300 for status in look_up.not_happened):
        raise SpecInvalid("reconcile: a status from 200 to 299 says that it happened; use found_at for a search")
    return look_up.not_happened, look_up.found_at, look_up.absence_proves


def _check_ours(code: HttpCode) -> None:
    """The headers of key and fence are the gate's to set: they keep an effect from happening twice."""
    ours = [name for name in (code.key_header, code.fence_header) if name]
    named = [slot.name for slot in code.request.slots if slot.place is Place.HEADER]
    named += [name for name, _ in code.request.headers] + [each.name for each in code.request.credentials]
    if not all(map(is_header, ours)) or not {each.lower() for each in ours}.isdisjoint(each.lower() for each in named):
        raise SpecInvalid(f"{' and '.join(ours)} are headers of the gate: valid ones, that nothing else sets")


def _look_up(look_up: HttpLookUp, request: Template, *, known: Iterable[HttpParameter]) -> Template:
    """The template of a look-up, which changes nothing and knows no other arguments than the tool."""
    template = template_of(HttpRequest(look_up.method, look_up.url, look_up.parameters, headers=look_up.headers))
    if template.method not in ("GET", "HEAD"):
        raise SpecInvalid("reconcile: a look-up is a GET or HEAD")
    unknown = {each.argument for each in template.slots} - {each.name for each in known} - {""}
    if unknown:
        raise SpecInvalid(f"reconcile: the tool has no argument {min(unknown)}")
    credentials = look_up.credentials
    if credentials is None:
        credentials = request.credentials if template.origin == request.origin else ()
    return template_of(
        HttpRequest(look_up.method, look_up.url, look_up.parameters, headers=look_up.headers, credentials=credentials)
    )


def _statuses(errors: Iterable[HttpError]) -> tuple[HttpError, ...]:
    found: dict[int, HttpError] = {}
    for each in errors:
        if not 200 <= each.status <= 599 or each.status in found:
            raise SpecInvalid(f"errors: the status {each.status} is none, or declared twice")
        found[each.status] = each
    return tuple(found.values())


def _contract(error: HttpError) -> ErrorContract:
    return ErrorContract(error.code, error.retryable, error.nothing_happened, error.description)


def _spec(http: Mapping[str, Any], options: ToolOptions, *, code: HttpCode) -> dict[str, Any]:
    """The fields of the `ToolSpec`, without its tenant and source."""
    parameters: tuple[HttpParameter, ...] = http.get("parameters", ())
    schema = options.get("input_schema") or schema_of(parameters)
    _check_arguments(schema, parameters)
    output = options.get("output_schema")
    return {
        **contract(options, name=options["name"]),
        "input_schema": Document.of(json_object(schema)),
        "output_schema": None if output is None else Document.of(json_object(output)),
        "parameters": tuple(each.parameter for each in parameters if _says_more(each)),
        "errors": one_meaning(map(_contract, code.statuses)),
        "secrets": _secrets(code),
        "reconcile": code.look_up is not None,
        "handler": Entrypoint("http", code.request.target, code.fingerprint),
    }


def _check_arguments(schema: Mapping[str, Any], parameters: Iterable[HttpParameter]) -> None:
    properties = schema.get("properties")
    known = set(properties) if isinstance(properties, Mapping) else set()
    placed = {each.name for each in parameters if not each.is_key}
    if known != placed:
        raise SpecInvalid(f"{min(known ^ placed)} is in the input schema or among the parameters, and not in both")


def _says_more(each: HttpParameter) -> bool:
    return not each.is_key and each.parameter != HttpParameter(each.name, each.place).parameter


def _secrets(code: HttpCode) -> tuple[str, ...]:
    credentials: list[Credential] = list(code.request.credentials)
    credentials += code.look_up.credentials if code.look_up is not None else ()
    return tuple(dict.fromkeys(name for each in credentials for name in each.secrets))
