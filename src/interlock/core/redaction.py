"""Redaction: the one place where secrets are taken out of whatever goes to a log, trace, metric, event, audit or error.

A value is serialized once and its bytes are searched once, by one RE2 set of everything that could be a secret: names
of keys, shapes of credentials, and the known secrets in each spelling. Most values hold none and are returned as they
are. Only after a hit is the value walked, string by string, with the exact expressions.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from urllib.parse import quote, quote_plus

import orjson
import re2

from interlock.core.canonical import Json, canonical, decode
from interlock.core.errors import RedactionInvalid
from interlock.core.redaction_marks import MASK, marked_pointers, marks_tree, mask_marked, needles
from interlock.core.redaction_patterns import (
    NOTHING,
    STANDARD,
    Rule,
    Vocabulary,
    assignment,
    is_secret_name,
    name_trigger,
    option,
)
from interlock.core.text import free_key

__all__ = ["MASK", "NOTHING", "SECRET_CHARS_MIN", "STANDARD", "Redactor", "loggable_headers", "marked_pointers"]

SECRET_CHARS_MIN = 6
DEPTH_MAX = 128

_TOO_MANY = "There are more known secrets than one redactor can hold."
Confirm = Callable[[bytes], bool]

_MASK_BYTES = MASK.encode()
_HARMLESS_VALUES = frozenset((b"", b"true", b"false", b"null", b"none", b"undefined", _MASK_BYTES))
_NAME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-. []")
_LOGGABLE = frozenset(
    (
        *(
            "accept",
            "accept-encoding",
            "accept-language",
            "age",
            "allow",
            "cache-control",
            "connection",
            "content-encoding",
        ),
        *("content-language", "content-length", "content-type", "date", "etag", "expires", "host", "if-match"),
        *("if-none-match", "last-modified", "mcp-protocol-version", "ratelimit-limit", "ratelimit-remaining"),
        *("ratelimit-reset", "retry-after", "server", "traceparent", "transfer-encoding", "user-agent", "vary", "via"),
        *("x-request-id", "request-id"),
    )
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

    __slots__ = ("_assignments", "_finds", "_known", "_scan", "_secrets", "_unscanned", "_vocabulary")

    def __init__(
        self,
        secrets: Iterable[str | bytes] = (),
        *,
        extra_keys: Iterable[str] = (),
        extra_patterns: Iterable[str] = (),
        vocabulary: Vocabulary = STANDARD,
    ) -> None:
        self._vocabulary = vocabulary.extended(extra_keys, extra_patterns)
        self._secrets = tuple(dict.fromkeys(map(_checked, secrets)))
        spellings = tuple(dict.fromkeys(each for secret in self._secrets for each in _spellings(secret)))
        self._known = _known(spellings)
        self._finds = tuple((_find(rule), rule.confirm) for rule in self._vocabulary.rules)
        self._unscanned = any(not rule.trigger for rule in self._vocabulary.rules)
        forms = (assignment, option) if self._vocabulary.has_names else ()
        self._assignments = tuple(_compile(form(self._vocabulary).encode()) for form in forms)
        self._scan = _scan_set(self._vocabulary, spellings)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._secrets)} known secrets>"

    def with_secrets(self, values: Iterable[str | bytes]) -> Redactor:
        """This redactor, knowing these secrets too. Compiles anew: keep the result, do not build one per call."""
        return Redactor((*self._secrets, *values), vocabulary=self._vocabulary)

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

    def json_bytes(self, data: bytes, *, marked: frozenset[str] = frozenset()) -> bytes:
        """The same for canonical JSON; the same object where there is no secret. What is not JSON is masked whole."""
        if not (self._unscanned or self._scan.Match(data) or b"\\u" in data or _has_any(needles(marked), data)):
            return data
        try:
            value = decode(data)
        except (ValueError, RecursionError):
            return orjson.dumps(MASK)
        redacted = self._walk(mask_marked(value, marks_tree(marked)), 0)
        return data if redacted is value else canonical(redacted)

    def _may_hold_secret(self, value: Json) -> bool:
        if self._unscanned:
            return True
        try:
            return bool(self._scan.Match(orjson.dumps(value)))
        except (TypeError, ValueError, RecursionError):
            return True

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
        if not (self._unscanned or self._scan.Match(data)):
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
        if self._known is not None:
            data = self._known.sub(lambda _: _MASK_BYTES, data)
        for find, confirm in self._finds:
            data = _mask_matches(data, find, confirm)
        for names in self._assignments:
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


def _checked(secret: str | bytes) -> bytes:
    stripped = secret.strip()
    text = stripped if isinstance(stripped, bytes) else stripped.encode("utf-8", "surrogatepass")
    if len(text.decode("utf-8", "replace")) < SECRET_CHARS_MIN:
        raise RedactionInvalid(
            f"A known secret is shorter than {SECRET_CHARS_MIN} characters: masking it would mask ordinary text. "
            "Use a longer secret, or name the key that holds it."
        )
    if text.lower() in _MASK_BYTES or _MASK_BYTES in text.lower():
        raise RedactionInvalid(f"A known secret cannot be told apart from the mask {MASK}. Use another secret.")
    return text


def _spellings(secret: bytes) -> Iterator[bytes]:
    yield secret
    yield secret.hex().encode()
    yield from _base64_spellings(secret)
    yield from (quote(secret, safe=safe).encode() for safe in ("", "/"))
    yield quote_plus(secret).encode()
    yield "".join(f"%{byte:02x}" for byte in secret).encode()
    with suppress(UnicodeDecodeError):
        yield from _text_spellings(secret.decode())


def _text_spellings(secret: str) -> Iterator[bytes]:
    yield from (html.escape(secret, quote=quotes).encode() for quotes in (True, False))
    for ascii_only in (True, False):
        escaped = secret
        for _ in range(2):
            escaped = json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]
            yield from (escaped.encode(), escaped.replace("/", "\\/").encode())


def _as_json(text: bytes) -> bytes:
    """How JSON spells it; bytes that are no text never meet JSON."""
    try:
        return json.dumps(text.decode(), ensure_ascii=False)[1:-1].encode()
    except UnicodeDecodeError:
        return text


def _base64_spellings(secret: bytes) -> Iterator[bytes]:
    """The characters that the secret alone decides, at each of the three offsets it may have in something longer."""
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + secret)
        inner = encoded[-(-8 * offset // 6) : 8 * (offset + len(secret)) // 6]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


def _any_of(spellings: Iterable[bytes]) -> bytes:
    longest_first = sorted(spellings, key=len, reverse=True)
    return b"|".join(map(_literal, longest_first))


def _literal(spelling: bytes) -> bytes:
    # Folding case byte by byte is right for ASCII only; elsewhere it could cut a character in two.
    escaped: bytes = re2.escape(spelling)
    return b"(?i:%b)" % escaped if spelling.isascii() else b"(?:%b)" % escaped


def _options(size: int = 0, *, encoding: re2.Options.Encoding = re2.Options.Encoding.LATIN1) -> re2.Options:
    options = re2.Options()
    options.encoding = encoding
    options.log_errors = False
    options.max_mem = (32 << 20) + 512 * size
    return options


def _compile(expression: bytes, options: re2.Options | None = None) -> re2._Regexp:
    return re2.compile(expression, options or _options(len(expression)))


def _known(spellings: tuple[bytes, ...]) -> re2._Regexp | None:
    try:
        return _compile(_any_of(spellings)) if spellings else None
    except re2.error:
        raise RedactionInvalid(_TOO_MANY) from None


def _find(rule: Rule) -> re2._Regexp:
    if rule.trigger:
        return _compile(rule.find.encode())
    try:
        found = _compile(rule.find.encode(), _options(encoding=re2.Options.Encoding.UTF8))
    except re2.error as fault:
        raise RedactionInvalid(f"The redaction {rule.name} is not an RE2 expression: {fault}") from None
    if found.search(b"") is not None:
        raise RedactionInvalid(f"The redaction {rule.name} matches an empty text, so it would mask everything.")
    return found


def _scan_set(vocabulary: Vocabulary, spellings: tuple[bytes, ...]) -> re2.Set:
    triggers = [rule.trigger.encode() for rule in vocabulary.rules if rule.trigger]
    if vocabulary.has_names:
        triggers.append(name_trigger(vocabulary).encode())
    if spellings:
        triggers.append(_any_of({*spellings, *(_as_json(each) for each in spellings)}))
    scan = re2.Set.SearchSet(_options(sum(map(len, triggers))))
    for trigger in triggers:
        scan.Add(trigger)
    scan.Compile()
    # A set without enough memory for its first states finds nothing, silently. Nothing may pass because of that.
    if not all(scan.Match(spelling) for spelling in (*spellings[:1], *spellings[-1:])):
        raise RedactionInvalid(_TOO_MANY)
    return scan
