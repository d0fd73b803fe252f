"""What an answer of an HTTP tool came to: a result, a declared error, a fault that passes, or an honest "not known"."""

from __future__ import annotations

import json
from typing import NoReturn

from interlock.core.canonical import Json, canonical, decode, sha256_hex
from interlock.core.frozen import frozen
from interlock.core.http_template import HttpCode
from interlock.core.outcome import Failed, Outcome, Produced, Succeeded, Whole
from interlock.core.refusals import Code
from interlock.core.retry import http_date_s, parse_retry_after
from interlock.core.tool import ToolSpec

TRANSIENT = frozenset({429, 502, 503, 504})
"""Statuses after which a repeatable call may be tried again."""

_DIGITS_MAX = 1_000
_UNREADABLE = "It was executed, but its result cannot be shown: "


@frozen
class Answer:
    """An answer whose head, and as much of its body as the tool's limit lets through, has been read.

    `size` is the whole size of the body where it is known; `is_whole` says whether `data` is all of it, and
    `whole` where all of it was kept.
    """

    status: int
    data: bytes = b""
    media_type: str = ""
    size: int | None = None
    is_whole: bool = True
    is_readable: bool = True
    retry_after: str = ""
    date: str = ""
    whole: Whole | None = None


def outcome_of(answer: Answer, *, spec: ToolSpec, code: HttpCode, now_us: int) -> Outcome:
    """The outcome of one attempt. What an undeclared status means for an effect nobody knows: `honest` says so."""
    rule = code.status(answer.status)
    wait_s = _wait_s(answer, now_us=now_us)
    said = f"{spec.name} answered with status {answer.status}."
    if rule is not None:
        return Failed(
            Code.TOOL_ERROR,
            rule.description or said,
            tool_code=rule.code,
            retryable=rule.retryable,
            retry_after_s=wait_s,
            nothing_happened=rule.nothing_happened,
        )
    if 200 <= answer.status < 300:
        return result_of(answer, limit=spec.output_bytes_max)
    if answer.status in TRANSIENT:
        return Failed(Code.TOOL_UNAVAILABLE, said, retryable=True, retry_after_s=wait_s)
    return Failed(Code.TOOL_ERROR, said)


def found_of(answer: Answer, *, spec: ToolSpec, code: HttpCode) -> Outcome | None:
    """What a look-up found out: it happened, it did not where the tool declares that this status proves it, or None."""
    if answer.status in code.not_happened:
        return _DID_NOT
    if not 200 <= answer.status < 300:
        return None
    result = result_of(answer, limit=spec.output_bytes_max)
    return _found_at(result, answer, code) if code.found_at else result


def _found_at(result: Outcome, answer: Answer, code: HttpCode) -> Outcome | None:
    """What stands at the place where a search says what it found; an answer that was not read whole proves nothing."""
    if not isinstance(result, Succeeded) or not answer.is_whole:
        return None
    value: Json = decode(result.data)
    for step in code.found_at.split("/")[1:]:
        value = _member(value, step.replace("~1", "/").replace("~0", "~"))
    if value == 0 and type(value) is not bool:
        return None  # a count of none, or the number of a first row: it could be either
    if value in _NOTHING:
        return _DID_NOT if code.absence_proves else None
    return Succeeded(canonical(value))


def _member(value: Json, step: str) -> Json:
    if isinstance(value, dict):
        return value.get(step)
    is_place = isinstance(value, list) and step.isascii() and step.isdecimal() and int(step) < len(value)
    return value[int(step)] if isinstance(value, list) and is_place else None


_NOTHING: tuple[Json, ...] = (None, False, "", [], {})
_DID_NOT = Failed(Code.TOOL_ERROR, "It did not happen.", nothing_happened=True)


def result_of(answer: Answer, *, limit: int) -> Outcome:
    """The body as a result: JSON read strictly, text, or bytes that are neither, to be kept beside what they are."""
    if not answer.is_readable:
        return Failed(Code.OUTPUT_INVALID, f"{_UNREADABLE}it is compressed in a way that cannot be read.")
    if answer.whole is not None:
        return Succeeded(canonical(answer.data.decode("utf-8", "replace")), Produced(whole=answer.whole))
    if not answer.is_whole:
        return Succeeded(_beginning(answer, limit=limit))
    if not answer.data:
        return Succeeded(b"null")
    kind, _, parameters = answer.media_type.partition(";")
    kind = kind.strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return _json_result(answer.data)
    text = _text(answer.data, parameters) if is_text(kind) else None
    return _binary(answer.data, kind) if text is None else Succeeded(canonical(text))


def is_text(media_type: str) -> bool:
    """Whether bodies of this type are read as text, JSON included."""
    kind = media_type.partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))


_TEXTS = frozenset(
    """
    application/json application/xml application/yaml application/x-ndjson application/javascript
    """.split()
)


def _json_result(data: bytes) -> Outcome:
    try:
        return Succeeded(canonical(_DECODER.decode(data.decode())))
    except (ValueError, RecursionError):
        return Failed(Code.OUTPUT_INVALID, f"{_UNREADABLE}it says that it is JSON, and is not.")


def _text(data: bytes, parameters: str) -> str | None:
    """The text, where its bytes are what they are said to be."""
    _, _, charset = parameters.lower().partition("charset=")
    name = charset.partition(";")[0].strip(" \"'") or "utf-8"
    try:
        text = data.decode(name if name in _CHARSETS else "utf-8")
        text.encode()
    except UnicodeError:
        return None
    return text


_CHARSETS = frozenset(
    {"utf-8", "us-ascii", "iso-8859-1", "windows-1252", "utf-16", "gbk", "gb18030", "big5", "shift_jis"}
)


def _binary(data: bytes, kind: str) -> Succeeded:
    kind = kind[:128] or "application/octet-stream"
    shown: dict[str, Json] = {"media_type": kind, "size_bytes": len(data), "sha256": sha256_hex(data)}
    return Succeeded(canonical(shown), Produced(whole=Whole(kind, len(data), data)))


def _beginning(answer: Answer, *, limit: int) -> bytes:
    """What is known of a body over the limit, within the limit: that it was cut, its whole size, and how it begins."""
    head = answer.data.decode("utf-8", "replace") if is_text(answer.media_type) else ""
    shown = _cut(answer, head)
    while len(shown) > limit and head:
        head = head[: len(head) - max(1, (len(shown) - limit) // 6)]
        shown = _cut(answer, head)
    return shown


def _cut(answer: Answer, head: str) -> bytes:
    kind = answer.media_type.partition(";")[0].strip()[:128]
    return canonical({"truncated": True, "size_bytes": answer.size, "media_type": kind, "head": head})


def _wait_s(answer: Answer, *, now_us: int) -> float | None:
    """Seconds of `Retry-After`; a date is measured on the server's own clock where it says its time."""
    if not answer.retry_after:
        return None
    date_s = http_date_s(answer.date.strip(), now_us=now_us) if len(answer.date) < 64 else None
    return parse_retry_after(answer.retry_after, now_us=now_us if date_s is None else int(date_s * 1_000_000))


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key twice in one object")
    return value


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise ValueError("an integer without end")
    return int(digits)


def _constant(_: str) -> NoReturn:
    raise ValueError("NaN or Infinity")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant)
