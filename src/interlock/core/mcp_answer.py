"""What the answer of an MCP server came to: a result, a declared error, or an honest "not known".

A server says three things of a call: a result, that its tool failed (`isError`), or an error of the protocol. Only
the last kind can say that nothing was done, and only where no tool can have had a say in it. What a server writes of a
failure is not told: it would stand among our own words.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from interlock.core.artifact import TEXT
from interlock.core.canonical import Json, canonical, sha256_hex
from interlock.core.frozen import frozen
from interlock.core.http_answer import is_text
from interlock.core.mcp_call import INPUT_REQUIRED, IS_ERROR, McpCode, McpLookUp
from interlock.core.outcome import NOTHING_MORE, Failed, Outcome, Produced, Succeeded, Whole
from interlock.core.refusals import Code
from interlock.core.tool import ToolSpec

INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
REJECTED = frozenset({-32601, HEADER_MISMATCH, -32021, -32022})
"""Errors that a server answers with before any tool is asked: no such method, headers, capability or version."""

_UNREADABLE = "It was executed, but its result cannot be shown: it is no result of the protocol."


@frozen
class Said:
    """A result as it came: the members of the JSON object."""

    result: Mapping[str, Json]


class Unheard(StrEnum):
    """Why a server that refused a call cannot have called its tool."""

    NO_TOOL = "no_tool"
    OTHER_ARGUMENTS = "other_arguments"


_UNHEARD = {
    Unheard.NO_TOOL: "the server lists no such tool ({tool})",
    Unheard.OTHER_ARGUMENTS: "the server takes other arguments by now",
}


@frozen
class Refused:
    """An error of the protocol, by its code, and why no tool can have been called, where the server's list says so."""

    code: int
    unheard: Unheard | None = None


Answer = Said | Refused


def outcome_of(answer: Answer, *, spec: ToolSpec, code: McpCode) -> Outcome:
    """The outcome of one attempt. What an undeclared failure means for an effect nobody knows: `honest` says so."""
    if isinstance(answer, Refused):
        return _refused(answer, spec=spec, code=code)
    end = _end_of(answer, code)
    if not end:
        return result_of(answer.result, limit=spec.output_bytes_max)
    declared = code.error(end) or code.error(IS_ERROR if end != INPUT_REQUIRED else "")
    what = "asks for more input, which nobody gives it here" if end == INPUT_REQUIRED else "says that it failed"
    message = f"{spec.name} {what}."
    if declared is None:
        return Failed(Code.TOOL_ERROR, message)
    return Failed(
        Code.TOOL_ERROR,
        declared.description or message,
        tool_code=declared.code,
        retryable=declared.retryable,
        nothing_happened=declared.nothing_happened,
    )


def found_of(answer: Answer, *, spec: ToolSpec, look_up: McpLookUp, code: McpCode) -> Outcome | None:
    """What a look-up found out: it happened, it did not where the tool declares that this proves it, or None."""
    end = str(answer.code) if isinstance(answer, Refused) else _end_of(answer, code)
    if end or isinstance(answer, Refused):
        ends = {end, IS_ERROR} if isinstance(answer, Said) and end != INPUT_REQUIRED else {end}
        return _DID_NOT if not ends.isdisjoint(look_up.not_happened) else None
    result = result_of(answer.result, limit=spec.output_bytes_max)
    if not look_up.found_at:
        return result
    value = _at(answer.result.get("structuredContent"), look_up.found_at)
    if value == 0 and type(value) is not bool:
        return None  # a count of none, or the number of a first row: it could be either
    if value in _NOTHING:
        return _DID_NOT if look_up.absence_proves else None
    return Succeeded(canonical(value))


def result_of(result: Mapping[str, Json], *, limit: int) -> Outcome:
    """What a server gave back: its structured content where there is some, else its content.

    A text that is longer than the limit is kept as the text that it is.
    """
    if "structuredContent" in result and result["structuredContent"] is not None:
        return _shown(result["structuredContent"], NOTHING_MORE)
    content = result.get("content")
    if not isinstance(content, list) or not all(isinstance(each, dict) for each in content):
        return Failed(Code.OUTPUT_INVALID, _UNREADABLE)
    blocks = [_block(each) for each in content if isinstance(each, dict)]
    found = [each for each in blocks if each is not None]
    if len(found) < len(content):
        return Failed(Code.OUTPUT_INVALID, _UNREADABLE)
    shown: list[Json] = [each.shown for each in found]
    produced = Produced(whole=_whole(content, found)) if any(each.data is not None for each in found) else NOTHING_MORE
    if len(shown) == 1 and isinstance(shown[0], str) and len(data := shown[0].encode("utf-8", "replace")) > limit:
        produced = Produced(whole=Whole(TEXT, len(data), data))
    return _shown(shown[0] if len(shown) == 1 else shown or None, produced)


def _whole(content: Json, blocks: Iterable[_Block]) -> Whole:
    """What is kept beside what is shown: the bytes of the one block that is no text, or all of the content."""
    wholes = [Whole(each.kind, len(each.data), each.data) for each in blocks if each.data is not None]
    if len(wholes) == 1:
        return wholes[0]
    everything = canonical(content)
    return Whole("application/json", len(everything), everything)


_NOTHING: tuple[Json, ...] = (None, False, "", [], {})
_DID_NOT = Failed(Code.TOOL_ERROR, "It did not happen.", nothing_happened=True)


def _refused(answer: Refused, *, spec: ToolSpec, code: McpCode) -> Failed:
    declared = code.error(str(answer.code))
    said = f"{spec.name} answered with the error {answer.code}."
    if declared is not None:
        return Failed(
            Code.TOOL_ERROR,
            declared.description or said,
            tool_code=declared.code,
            retryable=declared.retryable,
            nothing_happened=declared.nothing_happened,
        )
    if answer.unheard is not None:
        said = f"{spec.name} was not called: {_UNHEARD[answer.unheard].format(tool=code.tool)}."
    is_proved = answer.unheard is not None or answer.code in REJECTED
    return Failed(Code.TOOL_ERROR, said, nothing_happened=is_proved)


def _end_of(answer: Said, code: McpCode) -> str:
    """How it ended, in the words of a contract; empty where it went well."""
    if answer.result.get("resultType", "complete") == INPUT_REQUIRED:
        return INPUT_REQUIRED
    if answer.result.get("isError") is not True:
        return ""
    at = _at(answer.result.get("structuredContent"), code.error_at) if code.error_at else None
    return str(at) if isinstance(at, str | int) and code.error(str(at)) is not None else IS_ERROR


@frozen
class _Block:
    """One block of content as it is shown; the bytes of one that is no text."""

    shown: Json
    kind: str = ""
    data: bytes | None = None


def _block(given: Mapping[str, Json]) -> _Block | None:
    """None where it is no block of the protocol."""
    kind = given.get("type")
    if kind == "text" and isinstance(given.get("text"), str):
        return _Block(given["text"])
    if kind in ("image", "audio"):
        return _bytes(given.get("data"), given.get("mimeType"))
    inner = given.get("resource")
    if kind == "resource" and isinstance(inner, dict):
        if isinstance(inner.get("text"), str):
            return _Block({**_named(inner, "uri", "mimeType"), "text": inner["text"]})
        found = _bytes(inner.get("blob"), inner.get("mimeType"))
        if found is not None and isinstance(found.shown, dict):
            return _Block({**_named(inner, "uri"), **found.shown}, found.kind, found.data)
    if kind == "resource_link" and isinstance(given.get("uri"), str):
        return _Block(_named(given, "uri", "name", "title", "description", "mimeType", "size"))
    return None


def _bytes(data: Json, kind: Json) -> _Block | None:
    try:
        raw = base64.b64decode(data, validate=True) if isinstance(data, str) else None
    except (ValueError, binascii.Error):
        return None
    if raw is None:
        return None
    media_type = kind[:128] if isinstance(kind, str) and kind else "application/octet-stream"
    if is_text(media_type):
        media_type = "application/octet-stream"  # what is said to be text came as bytes: it is kept as what it is
    shown: dict[str, Json] = {"media_type": media_type, "size_bytes": len(raw), "sha256": sha256_hex(raw)}
    return _Block(shown, media_type, raw)


def _named(given: Mapping[str, Json], *names: str) -> dict[str, Json]:
    return {name: given[name] for name in names if given.get(name) is not None}


def _shown(value: Json, produced: Produced) -> Outcome:
    try:
        return Succeeded(canonical(value), produced)
    except (ValueError, TypeError, RecursionError):
        return Failed(Code.OUTPUT_INVALID, _UNREADABLE)


def _at(value: Json, pointer: str) -> Json:
    for step in _steps(pointer):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isascii() and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _steps(pointer: str) -> Iterator[str]:
    return (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
