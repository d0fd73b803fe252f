"""What a known secret looks like: every spelling of it, as one expression and one quick search."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, quote_plus

import re2

from interlock.core.errors import RedactionInvalid
from interlock.core.redaction_marks import MASK
from interlock.core.redaction_patterns import compile_bytes, compile_set

SECRET_CHARS_MIN = 6

_MASK_BYTES = MASK.encode()
_TOO_MANY = "There are more known secrets than one redactor can hold."


@dataclass(frozen=True, slots=True, repr=False)
class Known:
    """Known secrets; `scan` also finds them in serialized JSON, `pattern` finds where they are in text."""

    secrets: frozenset[bytes]
    pattern: re2._Regexp
    scan: re2.Set


@lru_cache(maxsize=256)
def known(secrets: frozenset[bytes]) -> Known:
    """These secrets (at least one), compiled; remembered, since a tool is given the same ones at each call."""
    spellings = frozenset(each for secret in secrets for each in _spellings(secret))
    in_json = {_as_json(each) for each in spellings}
    try:
        compiled = Known(secrets, compile_bytes(_any_of(spellings)), compile_set([_any_of(spellings | in_json)]))
    except re2.error:
        raise RedactionInvalid(_TOO_MANY) from None
    must_find(compiled.scan, max(spellings, key=len))
    return compiled


def must_find(scan: re2.Set, probe: bytes) -> None:
    """A set without enough memory for its first states finds nothing, silently: nothing may pass because of that."""
    if not scan.Match(probe):
        raise RedactionInvalid(_TOO_MANY)


def checked(secret: str | bytes) -> bytes:
    """The secret without white space around it; RedactionInvalid, which does not show it, where it is unusable."""
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
