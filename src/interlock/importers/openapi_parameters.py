"""The parameters of an operation: each becomes an argument that stands where, and is written as, the document says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from interlock.core.canonical import Json
from interlock.core.http_template import STYLES, Credential, CredentialPlace, Place, Style
from interlock.declare.http_request import OURS, HttpParameter
from interlock.importers.openapi_document import Object, OpenApi, Unfit, listed, mapping, words
from interlock.importers.openapi_document import Place as Operation
from interlock.importers.openapi_names import argument_names
from interlock.importers.openapi_schema import WORDS_MAX, Schemas

PARAMETERS_MAX = 256
_NOT_THEIRS = ("accept", "content-type", "authorization")
"""Headers that the specification says are no parameters."""

_SENT = ("content-length", "host", "idempotency-key", "interlock-fence", "traceparent", "user-agent")
"""Headers that are sent in any case, where they are of use."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What an operation takes: arguments by their names on the wire, and what was left out or is to be known."""

    parameters: tuple[HttpParameter, ...] = ()
    notes: tuple[str, ...] = ()


def read_parameters(operation: Operation, document: OpenApi, schemas: Schemas) -> Taken:
    """The parameters of path, query, headers and cookies. Raises `Unfit`."""
    found: list[HttpParameter] = []
    notes: list[str] = []
    for given, pointer in _given(operation, document):
        name = given.get("name")
        if not isinstance(name, str) or not name:
            raise Unfit("a parameter needs a name", pointer)
        if given.get("in") == "header" and _is_ours(name, given, pointer):
            notes.append(f"the header {name} is not the caller's: it is left out")
            continue
        found.append(_parameter(given, pointer, schemas))
    if len(found) > PARAMETERS_MAX:
        raise Unfit(f"it has {len(found)} parameters; at most {PARAMETERS_MAX} are read", operation.pointer)
    return Taken(tuple(found), tuple(notes))


def without_credentials(parameters: tuple[HttpParameter, ...], held: tuple[Credential, ...]) -> Taken:
    """The parameters that no credential fills: where one stands, nobody else may put anything."""
    kept = tuple(each for each in parameters if not any(_is_place_of(each, other) for other in held))
    left = [each for each in parameters if each not in kept]
    return Taken(kept, tuple(f"{each.wire_name} is filled by a credential" for each in left))


def named(parameters: tuple[HttpParameter, ...]) -> tuple[HttpParameter, ...]:
    """The same with the names that a model knows them by."""
    names = argument_names((str(each.place), each.wire_name) for each in parameters)
    return tuple(replace(each, name=name) for each, name in zip(parameters, names, strict=True))


def written(style: Json, explode: Json, *, place: Place, pointer: str) -> tuple[Style, bool]:
    """Style and explode, with the defaults of the specification. Raises `Unfit` for what has no spelling."""
    try:
        found = STYLES[place][0] if style is None else Style(str(style))
    except ValueError:
        found = None
    if found is None or found is Style.JSON or found not in STYLES[place]:
        raise Unfit(f"the style {str(style)[:40]!r} is none of a {place}", pointer)
    exploded = explode if isinstance(explode, bool) else found in (Style.FORM, Style.DEEP)
    if found in (Style.SPACE, Style.PIPE) and exploded:
        return Style.FORM, True  # exploded, the three are written alike
    return found, exploded


def _is_ours(name: str, given: Object, pointer: str) -> bool:
    """Whether a header is not for a caller to set. Raises `Unfit` where it must be sent all the same."""
    header = name.lower()
    if header in _NOT_THEIRS or header in _SENT:
        return True
    if header in OURS and given.get("required") is True:
        raise Unfit(f"{name} is no header that a tool may set", pointer)
    return header in OURS


def _is_place_of(parameter: HttpParameter, credential: Credential) -> bool:
    place = {
        CredentialPlace.HEADER: Place.HEADER,
        CredentialPlace.QUERY: Place.QUERY,
        CredentialPlace.COOKIE: Place.COOKIE,
    }.get(credential.place)
    one, other = parameter.wire_name, credential.name
    return parameter.place is place and (one.lower() == other.lower() if place is Place.HEADER else one == other)


def _given(operation: Operation, document: OpenApi) -> Iterator[tuple[Object, str]]:
    """Those of the path, then those of the operation, which take the place of others of their name."""
    found: dict[tuple[str, str], tuple[Object, str]] = {}
    of_path = operation.pointer.rpartition("/")[0]
    for owner, home in ((operation.shared, of_path), (mapping(operation.value), operation.pointer)):
        for at, each in enumerate(listed(owner.get("parameters"), f"{home}/parameters")):
            given, pointer = document.follow(each, f"{home}/parameters/{at}")
            found[str(given.get("in")), str(given.get("name"))] = given, pointer
    yield from found.values()


def _parameter(given: Object, pointer: str, schemas: Schemas) -> HttpParameter:
    name, where = str(given["name"]), str(given.get("in"))
    if where not in ("path", "query", "header", "cookie"):
        raise Unfit(f"the parameter {name} stands in {where[:40]!r}, where none can be sent", pointer)
    place = Place(where)
    if "content" in given:
        style, explode = Style.JSON, False
        schema = _schema_of_content(given, pointer, schemas)
    else:
        style, explode = written(given.get("style"), given.get("explode"), place=place, pointer=pointer)
        if "schema" not in given:
            raise Unfit(f"the parameter {name} has neither schema nor content", pointer)
        schema = schemas.read(given["schema"], f"{pointer}/schema")
    return HttpParameter(
        name,
        place,
        described(schema, given),
        required=place is Place.PATH or given.get("required") is True,
        wire_name=name,
        style=style,
        explode=explode,
        reserved=place is Place.QUERY and given.get("allowReserved") is True,
    )


def _schema_of_content(given: Object, pointer: str, schemas: Schemas) -> Json:
    content = mapping(given["content"])
    kinds = [kind for kind in content if kind.partition(";")[0].strip().lower() == "application/json"]
    if not kinds:
        raise Unfit(f"a parameter can be written as application/json, not as {', '.join(content)[:80]}", pointer)
    schema = mapping(content[kinds[0]]).get("schema", {})
    return schemas.read(schema, f"{pointer}/content/{kinds[0].replace('/', '~1')}/schema")


def described(schema: Json, given: Object) -> Object:
    """The schema with what is said of its parameter, in front of what is said of its type."""
    said = words(given.get("description"), WORDS_MAX)
    found: Object = dict(schema) if isinstance(schema, dict) else {} if schema is True else {"not": {}}
    default = str(found.get("description", "")).rpartition("Where it is left out ")
    tail = f"{default[1]}{default[2]}" if default[1] else ""
    text = "\n".join(filter(None, [said, tail])) if said else str(found.get("description", ""))
    if given.get("deprecated") is True:
        found["deprecated"] = True
    return {**found, "description": text} if text else found
