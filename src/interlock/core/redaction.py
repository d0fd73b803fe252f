"""Redaction: the one place where secrets are taken out of whatever goes to a log, trace, metric, event, audit or error.

A value is serialized once and its bytes are searched once, by one RE2 set of everything that could be a secret: names
of keys, shapes of credentials, and the known secrets in each spelling. Most values hold none and are returned as they
are. Only after a hit is the value walked, string by string, with the exact expressions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import copy

import orjson
import re2

from interlock.core.canonical import Json, canonical, decode
from interlock.core.redaction_known import SECRET_CHARS_MIN, checked, known
from interlock.core.redaction_marks import MASK, marked_pointers, marks_tree, mask_marked, needles
from interlock.core.redaction_names import mask_named, name_needles
from interlock.core.redaction_patterns import (
    NOTHING,
    STANDARD,
    Confirm,
    Vocabulary,
    expressions,
    finder,
    is_secret_name,
)
from interlock.core.text import free_key

__all__ = ["MASK", "NOTHING", "SECRET_CHARS_MIN", "STANDARD", "Redactor", "loggable_headers", "marked_pointers"]

DEPTH_MAX = 128

_MASK_BYTES = MASK.encode()
_HARMLESS_VALUES = frozenset((b"", b"true", b"false", b"null", b"none", b"undefined", _MASK_BYTES))
_NAME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-. []")
_LOGGABLE = frozenset(
    "accept accept-encoding accept-language age allow cache-control connection content-encoding content-language "
    "content-length content-type date etag expires host if-match if-none-match last-modified mcp-protocol-version "
    "ratelimit-limit ratelimit-remaining ratelimit-reset request-id retry-after server traceparent transfer-encoding "
    "user-agent vary via x-request-id".split()
)


def loggable_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers for a log: values only of names known to be harmless; every other name stays, with its value masked."""
    return {name: value if name.lower() in _LOGGABLE else MASK for name, value in headers.items()}


class Redactor:
    """Masks secrets. Never changes once built; safe to share between threads.

    `secrets` are known values, at least six characters long: they are found as they are and as base64 (at any offset),
    URL-encoded, JSON-escaped, HTML-escaped and hexadecimal, in upper and lower case. `extra_keys` are names of keys,
    matched as whole words in any spelling; `extra_patterns` are RE2 expressions, which every string is searched for.
    `vocabulary=NOTHING` hides known secrets and schema marks alone, which is what an approver may be denied.
    """

    __slots__ = ("_expressions", "_known", "_scans", "_vocabulary")

    def __init__(
        self,
        secrets: Iterable[str | bytes] = (),
        *,
        extra_keys: Iterable[str] = (),
        extra_patterns: Iterable[str] = (),
        vocabulary: Vocabulary = STANDARD,
    ) -> None:
        self._vocabulary = vocabulary.extended(extra_keys, extra_patterns)
        self._expressions = expressions(self._vocabulary)
        values = frozenset(map(checked, secrets))
        self._known = (known(values),) if values else ()
        self._scans = tuple(map(finder, (self._expressions.scan, *(each.scan for each in self._known))))

    def __repr__(self) -> str:
        return f"<Redactor of {sum(len(each.secrets) for each in self._known)} known secrets>"

    def with_secrets(self, values: Iterable[str | bytes]) -> Redactor:
        """This redactor, knowing these secrets too: itself where it knows them all."""
        new = frozenset(map(checked, values)).difference(*(each.secrets for each in self._known))
        if not new:
            return self
        added = copy(self)
        more = known(new)
        added._known = (*self._known, more)
        added._scans = (*self._scans, finder(more.scan))
        return added

    def text(self, text: str) -> str:
        """The text with every secret masked; the same object where there is none."""
        return self._text(text, 0)

    def json(self, value: Json, *, marked: frozenset[str] = frozenset()) -> Json:
        """The value with every secret masked, in keys too; the same object where there is none.

        `marked` holds the JSON pointers that the schema marks (`marked_pointers`). What lies deeper than 128 levels is
        masked whole.
        """
        if marked:
            value = mask_marked(value, marks_tree(marked))
        return self._walk(value, 0) if self._may_hold_secret(value) else value

    def finds_nothing(self, data: bytes) -> bool:
        """Whether there is surely no secret in these bytes of JSON or text: one search instead of one for each part."""
        return not self._hits(data) and data.find(b"\\u") < 0

    def json_bytes(
        self, data: bytes, *, marked: frozenset[str] = frozenset(), named: frozenset[str] = frozenset()
    ) -> bytes:
        """The same for canonical JSON; the same object where there is no secret. What is not JSON is masked whole.

        `named` holds names of fields that are masked wherever they stand.
        """
        if not (
            self._hits(data)
            or data.find(b"\\u") >= 0  # `in` takes thrice as long: it tries a number first
            or (marked and _has_any(needles(marked), data))
            or (named and _has_any(name_needles(named), data))
        ):
            return data
        try:
            value = decode(data)
        except (ValueError, RecursionError):
            return orjson.dumps(MASK)
        masked = mask_marked(value, marks_tree(marked))
        redacted = self._walk(mask_named(masked, named) if named else masked, 0)
        return data if redacted is value else canonical(redacted)

    def raw(self, data: bytes) -> bytes:
        """Bytes that may be no text, with every known secret masked: nothing else can be told in them."""
        for each in self._known:
            data = each.pattern.sub(lambda _: _MASK_BYTES, data)
        return data

    def outside_known(self, text: str, at: int) -> int:
        """The last place up to `at` where the text can be cut without cutting through a known secret."""
        data, cut = text.encode("utf-8", "surrogatepass"), len(text[:at].encode("utf-8", "surrogatepass"))
        found = [match.span() for each in self._known for match in each.pattern.finditer(data)]
        for start, end in sorted(found, reverse=True):
            cut = start if start < cut < end else cut
        return len(data[:cut].decode("utf-8", "surrogatepass"))

    def _may_hold_secret(self, value: Json) -> bool:
        try:
            return self._hits(orjson.dumps(value))
        except (TypeError, ValueError, RecursionError):
            return True

    def _hits(self, data: bytes) -> bool:
        for finds in self._scans:
            if finds(data):
                return True
        return self._expressions.unscanned

    def _walk(self, value: Json, depth: int) -> Json:
        if depth > DEPTH_MAX:
            return MASK
        match value:
            case str():
                return self._text(value, depth)
            case dict():
                return self._members(value, depth)
            case list():
                items = [self._walk(item, depth + 1) for item in value]
                return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
            case None | bool():
                return value
            case _:
                digits = repr(value)
                return value if self._text(digits, depth) == digits else MASK

    def _members(self, members: dict[str, Json], depth: int) -> dict[str, Json]:
        out: dict[str, Json] = {}
        changed = False
        for key, value in members.items():
            name = self._text(key, depth)
            masks = not _says_nothing(value) and is_secret_name(key, self._vocabulary)
            new = MASK if masks else self._walk(value, depth + 1)
            out[free_key(name, out)] = new
            changed = changed or new is not value or name is not key
        return out if changed else members

    def _text(self, text: str, depth: int) -> str:
        data = text.encode("utf-8", "surrogatepass")
        if not self._hits(data):
            return text
        redacted = self._plain(self._embedded_json(text, depth).encode("utf-8", "surrogatepass"))
        return text if redacted == data else redacted.decode("utf-8", "surrogatepass")

    def _embedded_json(self, text: str, depth: int) -> str:
        """A text that is JSON is redacted as JSON, which is exact where an expression over its text is not."""
        if not text.lstrip().startswith(("{", "[")):
            return text
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        redacted = self._walk(value, depth + 1)
        return text if redacted is value else json.dumps(redacted, ensure_ascii=False, separators=(",", ":"))

    def _plain(self, data: bytes) -> bytes:
        data = self.raw(data)
        for find, confirm in self._expressions.finds:
            data = _mask_matches(data, find, confirm)
        for names in self._expressions.assignments:
            data = self._mask_assignments(data, names)
        return data

    def _mask_assignments(self, data: bytes, names: re2._Regexp) -> bytes:
        parts: list[bytes] = []
        done = 0
        at = 0
        while (match := names.search(data, at)) is not None:
            start, end = match.span(2)
            start += len(_open_quote(match[2]))
            at = end
            if data[start:end].lower() in _HARMLESS_VALUES:
                continue
            if is_secret_name(_name_ending(data, match.end(1)), self._vocabulary):
                parts += (data[done:start], _MASK_BYTES)
                done = end
            else:
                at = match.start(2)
        return b"".join((*parts, data[done:])) if parts else data


def _mask_matches(data: bytes, find: re2._Regexp, confirm: Confirm | None) -> bytes:
    parts: list[bytes] = []
    done = 0
    group = 1 if find.groups else 0
    for match in find.finditer(data):
        if match[group] != _MASK_BYTES and (confirm is None or confirm(match[group])):
            parts += (data[done : match.start(group)], _MASK_BYTES)
            done = match.end(group)
    return b"".join((*parts, data[done:])) if parts else data


def _open_quote(value: bytes) -> bytes:
    if value.startswith(b'\\"'):
        return b'\\"'
    return value[:1] if value.startswith((b'"', b"'")) else b""


def _name_ending(data: bytes, end: int) -> str:
    """The whole name that ends here: what an expression found may be the last word of a harmless one."""
    start = end
    while start > 0 and end - start < 80 and data[start - 1] in _NAME_BYTES:
        start -= 1
    return data[start:end].decode("utf-8", "replace") or data[max(0, end - 80) : end].decode("utf-8", "replace")


def _says_nothing(value: Json) -> bool:
    return value is None or isinstance(value, bool) or value == ""


def _has_any(wanted: Iterable[bytes], data: bytes) -> bool:
    return any(each in data for each in wanted)
