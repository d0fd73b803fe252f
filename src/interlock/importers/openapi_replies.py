"""What the declared replies of an operation mean: the schema of its results, and the errors of its contract."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.core.canonical import Json, canonical
from interlock.core.http_answer import TRANSIENT, is_text
from interlock.core.http_template import HttpError
from interlock.importers.openapi_document import Object, OpenApi, Unfit, mapping, words
from interlock.importers.openapi_document import Place as Operation
from interlock.importers.openapi_schema import Schemas

_STREAM = "text/event-stream"
_SAYS_NOTHING = (408, 425, 499)
"""Statuses of a client's fault after which a server may have done it all the same."""


@dataclass(frozen=True, slots=True)
class Replies:
    """`output` is None where results are not described; `accept` is the media type to ask for, where that matters."""

    output: Json = None
    accept: str = ""
    errors: tuple[HttpError, ...] = ()
    notes: tuple[str, ...] = ()


def read_replies(operation: Operation, document: OpenApi, schemas: Schemas, *, is_read: bool) -> Replies:
    """The replies. Raises `Unfit` where none ever ends."""
    given = mapping(mapping(operation.value).get("responses"))
    found = dict(_followed(given, operation, document))
    good = {status: each for status, each in found.items() if status.startswith("2")}
    errors = tuple(_error(int(status), each) for status, each in found.items() if _is_error(status, is_read=is_read))
    kinds = [kind for each, _ in good.values() for kind in mapping(each.get("content"))]
    if kinds and all(_plain(kind) == _STREAM for kind in kinds):
        raise Unfit("it answers with a stream of events, which need not end", f"{operation.pointer}/responses")
    accept = next((kind for kind in kinds if _is_json(kind)), "") if len({*map(_plain, kinds)}) > 1 else ""
    notes = ("a stream of events is not asked for",) if any(_plain(kind) == _STREAM for kind in kinds) else ()
    try:
        output = None if operation.method == "head" else _output(good, schemas)
    except Unfit as fault:
        return Replies(None, accept, errors, (*notes, f"results are not checked: {fault.reason}"))
    return Replies(output, accept, errors, notes)


def _followed(given: Object, operation: Operation, document: OpenApi) -> Iterator[tuple[str, tuple[Object, str]]]:
    for status, each in given.items():
        pointer = f"{operation.pointer}/responses/{status}"
        try:
            yield status, document.follow(each, pointer)
        except Unfit:
            yield status, ({"content": {"": {}}}, pointer)  # something comes, and nobody knows what


def _is_error(status: str, *, is_read: bool) -> bool:
    """Whether a status ends a call as failed. A server's own fault ends a read alone: it may have done an effect."""
    if not (len(status) == 3 and status.isascii() and status.isdecimal() and status[0] in "45"):
        return False
    return is_read or (status[0] == "4" and int(status) not in _SAYS_NOTHING)


def _error(status: int, reply: tuple[Object, str]) -> HttpError:
    said = words(reply[0].get("description"), 200)
    return HttpError(status, f"HTTP_{status}", retryable=status in TRANSIENT, description=said)


def _output(good: dict[str, tuple[Object, str]], schemas: Schemas) -> Json:
    """What fits one of the good replies; nothing is known where one of them could be anything."""
    found: list[Json] = []
    for status, (reply, pointer) in good.items():
        content = mapping(reply.get("content"))
        if not content:
            if "content" in reply or status in ("204", "205"):
                found.append({"type": "null"})
                continue
            return None  # no word of a body: in practice there often is one
        kinds = [kind for kind in content if _plain(kind) != _STREAM]
        chosen = [kind for kind in kinds if _is_json(kind)] or kinds
        for kind in chosen:
            schema = mapping(content[kind]).get("schema")
            if _is_json(kind) and schema is not None:
                place = kind.replace("~", "~0").replace("/", "~1")
                found.append(schemas.read(schema, f"{pointer}/content/{place}/schema"))
            elif is_text(kind):
                found.append({"type": "string"})
            else:
                return None
    distinct = list({canonical(each): each for each in found}.values())
    return None if not distinct else distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _plain(kind: str) -> str:
    return kind.partition(";")[0].strip().lower()


def _is_json(kind: str) -> bool:
    plain = _plain(kind)
    return plain == "application/json" or plain.endswith("+json")
