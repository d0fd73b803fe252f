"""One operation as it is read: what `http_tool` takes, and the facts that a person reviews and a digest covers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.core.canonical import Json, canonical, sha256_hex
from interlock.core.effect import Effect
from interlock.core.errors import SchemaInvalid, SpecInvalid
from interlock.core.http_template import BodyKind, Credential, read_url
from interlock.core.schema import compile_schema
from interlock.core.text import visible
from interlock.core.tool import spec_to_json
from interlock.declare.http import HttpTool
from interlock.declare.http_options import HttpOptions
from interlock.declare.http_request import HttpParameter, schema_of
from interlock.importers.openapi_body import BodyTaken, read_body
from interlock.importers.openapi_document import Object, OpenApi, Place, Unfit, mapping, words
from interlock.importers.openapi_names import tool_names
from interlock.importers.openapi_parameters import Taken, named, read_parameters, without_credentials
from interlock.importers.openapi_replies import Replies, read_replies
from interlock.importers.openapi_schema import Schemas, Way
from interlock.importers.openapi_security import read_security
from interlock.importers.openapi_servers import refuse_other_server

TITLE_MAX = 120
DESCRIPTION_MAX = 800
OUTPUT_BYTES_MAX = 65_536
PATH_CHARS_MAX = 2_000
_SHOWN_MAX = 1_200
_EFFECTS = {"get": Effect.READ, "head": Effect.READ, "delete": Effect.DESTRUCTIVE}
_EXTENSION = ("effect", "key", "resource", "risk", "tool")
_OF_PAGES = frozenset(
    """
    page per_page page_size pagesize limit offset cursor after before start next_token nexttoken page_token pagetoken
    starting_after ending_before max_results maxresults top skip
    """.split()
)


@dataclass(frozen=True, slots=True)
class Read:
    """An operation that can be a tool. `schemes` are its credentials, by the scheme that names each.

    `facts` are all that a model, a policy or a request has of it, each by the name of its field.
    """

    key: str
    pointer: str
    given_name: str
    parameters: tuple[HttpParameter, ...]
    definitions: Object
    schemes: tuple[tuple[str, Credential], ...]
    options: Mapping[str, Any]
    facts: Mapping[str, Json]
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over all facts."""
        return sha256_hex(canonical({**self.facts}))

    @property
    def shown(self) -> dict[str, str]:
        """The facts as a person reads and compares them: schemas by their digest."""
        return {name: _shown(value) for name, value in self.facts.items()}


@dataclass(frozen=True, slots=True)
class Unmade:
    """What makes no tool, where it stands in the document, and why."""

    pointer: str
    reason: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """All operations of a document: those that can be tools, with a name for each, and the others."""

    operations: tuple[Read, ...] = ()
    unmade: tuple[Unmade, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


class Reader:
    """Reads operations of one document as requests to one server."""

    def __init__(self, document: OpenApi, server: str) -> None:
        self._document = document
        self._server = server
        self._sent = Schemas(document, Way.SENT)
        self._back = Schemas(document, Way.BACK)

    def read(self, place: Place) -> Read | Unmade:
        """The operation, or why it makes no tool. Whatever is wrong with one harms no other."""
        try:
            return self._checked(self._read(place))
        except Unfit as fault:
            return Unmade(fault.pointer or place.pointer, fault.reason, place.key)
        except SpecInvalid as fault:
            return Unmade(place.pointer, words(str(fault), 500), place.key)
        except RecursionError:
            return Unmade(place.pointer, "it nests too deeply", place.key)

    def all(self) -> Reading:
        """Every operation of the document, webhooks and callbacks among those that make no tool."""
        found: list[Read] = []
        unmade: list[Unmade] = []
        for place in self._document.places():
            if not isinstance(place, Place):
                unmade.append(Unmade(*place))
                continue
            each = self.read(place)
            found.append(each) if isinstance(each, Read) else unmade.append(each)
            unmade.extend(_callbacks(place))
        hooks = mapping(self._document.root.get("webhooks"))
        unmade += [Unmade(f"/webhooks/{name}", "the server makes this request, not we") for name in hooks]
        return Reading(tuple(found), tuple(unmade), tool_names((each.key, each.given_name) for each in found))

    def _read(self, place: Place) -> Read:
        operation, extension = mapping(place.value), _extension(place)
        if not isinstance(place.value, dict):
            raise Unfit("it must be an object")
        _check_path(place.path, self._server)
        if place.method in ("options", "trace"):
            raise Unfit(f"a tool sends no {place.method.upper()}")
        refuse_other_server(place, self._document, self._server)
        schemes = read_security(place, self._document)
        taken = read_parameters(place, self._document, self._sent)
        held = tuple(credential for _, credential in schemes)
        outside = without_credentials(taken.parameters, held)
        body = read_body(place, self._document, self._sent)
        parameters = named((*outside.parameters, *body.parameters))
        effect = extension.get("effect", _EFFECTS.get(place.method, Effect.WRITE))
        replies = read_replies(place, self._document, self._back, is_read=effect is Effect.READ)
        definitions = self._sent.definitions(*[dict(each.schema) for each in parameters])
        output, unchecked = self._output(replies.output)
        said = _said(place, self._document, parameters)
        options: dict[str, Any] = {
            **said,
            **extension,
            "effect": effect,
            "method": place.method.upper(),
            "url": f"{self._server}{place.path}",
            "body": body.kind,
            "headers": {"Accept": replies.accept} if replies.accept else {},
            "errors": replies.errors,
            "output_schema": output,
            "output_check": "warn",
        }
        notes = (*taken.notes, *outside.notes, *_on_body(body), *replies.notes, *unchecked)
        given = operation.get("operationId")
        read = Read(
            place.key,
            place.pointer,
            given if isinstance(given, str) else "",
            parameters,
            definitions,
            schemes,
            options,
            {},
            tuple(words(each, 200) for each in notes),
        )
        return _with_facts(read, place, self._sent, unwritten=_unwritten(taken, replies))

    def _output(self, output: Json) -> tuple[Object | None, tuple[str, ...]]:
        """The schema of results with its definitions; without one where it cannot be compiled later on."""
        if not isinstance(output, dict) or not output:
            return None, ()
        try:
            definitions = self._back.definitions(output, bytes_max=OUTPUT_BYTES_MAX)
        except Unfit as fault:
            return None, (f"results are not checked: {fault.reason}",)
        return {**output, "$defs": definitions} if definitions else output, ()

    def _checked(self, read: Read) -> Read:
        """The operation as a tool that can be registered, if need be without the schema of its results."""
        output: Any = read.options["output_schema"]
        declared(read, name="x", owner="x")
        compile_schema(input_schema(read.parameters, read.definitions))
        try:
            if output is not None:
                compile_schema(output)
            return read
        except SchemaInvalid as fault:
            note = words(f"results are not checked: {fault}", 200)
        facts = {name: each for name, each in read.facts.items() if name != "output"}
        options = {**read.options, "output_schema": None}
        return replace(read, options=options, facts=facts, notes=(*read.notes, note))


def declared(read: Read, **options: Any) -> HttpTool:
    """The operation as a declared tool; `options` take the place of what was read. Raises `SpecInvalid`."""
    held: dict[str, Any] = {
        **read.options,
        "parameters": read.parameters,
        "input_schema": input_schema(read.parameters, read.definitions),
        "credentials": tuple(credential for _, credential in read.schemes),
        **options,
    }
    given: HttpOptions = held  # type: ignore[assignment]
    return HttpTool(given)


def input_schema(parameters: tuple[HttpParameter, ...], definitions: Object) -> dict[str, Any]:
    """What a tool with these parameters takes."""
    schema = schema_of(parameters)
    return {**schema, "$defs": definitions} if definitions else schema


def _with_facts(read: Read, place: Place, schemas: Schemas, *, unwritten: Object) -> Read:
    options, errors = read.options, read.options["errors"]
    facts: dict[str, Json] = {
        "title": options["title"],
        "description": options["description"],
        "effect": Effect(options["effect"]).value,
        "request": place.key,
        "body": BodyKind(options["body"]).value,
        "credentials": [[name, spec_to_json(credential)] for name, credential in read.schemes],
        "errors": spec_to_json(errors),
        **{
            f"x-interlock {name}": spec_to_json(options[name])
            for name in ("key", "resource", "risk")
            if name in options
        },
        **unwritten,
    }
    for each in read.parameters:
        schema: Json = dict(each.schema)
        slot = spec_to_json(each.slot)
        facts[f"parameter {each.name}"] = [slot, each.required, schema, schemas.definitions(schema)]
    if options["output_schema"] is not None:
        facts["output"] = options["output_schema"]
    return replace(read, facts={name: each for name, each in facts.items() if each not in ("", [], {})})


def _unwritten(taken: Taken, replies: Replies) -> Object:
    return {"accept": replies.accept, "left out": [*taken.notes]}


def _check_path(path: str, server: str) -> None:
    """A path that did not begin with a slash could be read as more of the host's name. Raises `Unfit`."""
    if not path.startswith("/") or len(path) > PATH_CHARS_MAX:
        raise Unfit(f"a path begins with / and has at most {PATH_CHARS_MAX} characters")
    if read_url(f"{server}{path}").origin != read_url(server).origin:
        raise Unfit("its path leads to another server")


def _extension(place: Place) -> dict[str, Any]:
    given = mapping(mapping(place.value).get("x-interlock"))
    unknown = given.keys() - set(_EXTENSION)
    if unknown:
        raise Unfit(f"x-interlock has no {min(unknown)!r}", f"{place.pointer}/x-interlock")
    if given.get("tool", True) is not True:
        raise Unfit("x-interlock says that it is no tool", f"{place.pointer}/x-interlock")
    found: dict[str, Any] = {name: each for name, each in given.items() if name != "tool"}
    resource = found.get("resource")
    if isinstance(resource, dict):
        found["resource"] = [resource.get("type"), resource.get("id")]
    try:
        return {**found, "effect": Effect(found["effect"])} if "effect" in found else found
    except ValueError:
        raise Unfit("effect is read, idempotent_write, write or destructive", f"{place.pointer}/x-interlock") from None


def _said(place: Place, document: OpenApi, parameters: tuple[HttpParameter, ...]) -> dict[str, str]:
    """Title and description as a model reads them: bounded, cleaned, never empty."""
    operation = mapping(place.value)
    title = words(operation.get("summary"), TITLE_MAX)
    text = words(operation.get("description"), DESCRIPTION_MAX)
    parts = [text if text.startswith(title.rstrip(".")) else f"{title}\n{text}".strip()]
    if not parts[0]:
        parts = [f"{place.key} of {document.title or 'this API'}."]
    if operation.get("deprecated") is True:
        parts.append("Deprecated.")
    pages = [each.name for each in parameters if each.name.lower().replace("-", "_") in _OF_PAGES]
    if pages and place.method == "get":
        parts.append(f"Results come in pages: see {', '.join(pages[:4])}.")
    return {"title": title, "description": "\n".join(parts)}


def _on_body(body: BodyTaken) -> Iterator[str]:
    if body.others:
        yield f"a body could also be {', '.join(body.others)}"


def _callbacks(place: Place) -> Iterator[Unmade]:
    for name in mapping(mapping(place.value).get("callbacks")):
        yield Unmade(f"{place.pointer}/callbacks/{name}", "the server makes this request, not we")


def _shown(value: Json) -> str:
    return visible(_in_short(value))


def _in_short(value: Json) -> str:
    if isinstance(value, str) and len(value) <= _SHOWN_MAX:
        return value
    mark = f"sha256:{sha256_hex(canonical(value))[:16]}"
    match value:
        case [{"place": place, "name": name, "style": style}, required, {"type": kind}, _]:
            return f"{place} {name} {style} {'required' if required else 'optional'} {kind} {mark}"
        case [{"place": place, "name": name, "style": style}, required, _, _]:
            return f"{place} {name} {style} {'required' if required else 'optional'} {mark}"
        case [{"status": _}, *_]:
            return f"{' '.join(str(mapping(each).get('status')) for each in value)} {mark}"
        case [[str(), dict()], *_]:
            return f"{' '.join(str(each[0]) for each in value if isinstance(each, list))} {mark}"
        case _:
            return mark
