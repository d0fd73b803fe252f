"""The boundary around an untrusted result in the text that a model reads.

The marker helps a model to tell data from instruction. It is no control: policy on what may follow is, and it holds
even where the model obeys the text. Both ends carry a nonce that the payload's author cannot know. Every payload is
wrapped; one that looks wrapped already is wrapped like any other, and whatever looks like a marker in it is broken
where a reader can see it. The search runs on a skeleton of equal length, in which full-width, mathematical, Cyrillic
and Greek look-alikes are ASCII.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import re2

from interlock.core.text import clean

NEUTRALISED = "[not a boundary]"
ATTRIBUTE_CHARS_MAX = 200

_NONCE = re.compile(r"[A-Za-z0-9_-]{16,128}\Z")
_UNFIT_IN_ATTRIBUTE = re.compile(r"[^\w.:/@+ -]")


def fence(payload: str, *, nonce: str, origin: str, trust: str) -> str:
    """The payload, cleaned and between two markers that only the holder of the nonce can write.

    `nonce` is random for each result: 16 to 128 characters of A-Z a-z 0-9 _ -; anything else is a ValueError.
    `origin` and `trust` are shown in the opening marker, bounded, with whatever could end an attribute made `_`.
    """
    if _NONCE.match(nonce) is None:
        raise ValueError("A fence needs a nonce of 16 to 128 characters out of A-Z, a-z, 0-9, _ and -.")
    body = _without_markers(_without_nonce(clean(payload).text, nonce))
    start = f'<untrusted nonce="{nonce}" origin="{_attribute(origin)}" trust="{_attribute(trust)}">'
    return f'{start}\n{body}\n</untrusted nonce="{nonce}">'


def _without_nonce(text: str, nonce: str) -> str:
    if nonce.lower() not in text.lower():
        return text
    return re.sub(re.escape(nonce), NEUTRALISED, text, flags=re.IGNORECASE | re.ASCII)


def _without_markers(text: str) -> str:
    if _OPENER.search(text) is None:
        return text
    return _replace(text, (match.span(1) for match in _MARKER.finditer(_skeleton(text))))


def _skeleton(text: str) -> bytes:
    """One byte for each character, so that positions stay true: `?` for whatever is not read as ASCII."""
    plain = text.replace("?", "!")
    folded = plain if plain.isascii() else plain.translate(_FORMS)
    return folded.encode("ascii", "replace")


def _replace(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts: list[str] = []
    end = 0
    for span in spans:
        parts += (text[end : span[0]], NEUTRALISED)
        end = span[1]
    parts.append(text[end:])
    return "".join(parts)


@lru_cache(maxsize=1_024)
def _attribute(value: str) -> str:
    return _UNFIT_IN_ATTRIBUTE.sub("_", clean(value).text)[:ATTRIBUTE_CHARS_MAX]


def _marker_pattern() -> bytes:
    """An opening bracket in any spelling (group 1), then the marker's name, with anything but words in between."""
    escape = r"(?:\\+|%)(?:u00|u\{0*|x|0)?"
    entity = r"&(?:amp;)*"
    bracket = rf"(?:<|{entity}lt;?|{entity}#0*60;?|{entity}#x0*3c;?|{escape}3c\}}?|\\+74)"
    spelled = r"\\+(?:[abefnrtv0]|u[0-9a-f]{4}|u\{[0-9a-f]+\}|x[0-9a-f]{2})|%[0-9a-f]{2}|&[#a-z0-9]+;"
    filler = rf"(?:[^a-z0-9<>&%\\?]|{spelled}|\\)*"
    return rf"(?i)({bracket}){filler}{filler.join('untrusted')}".encode()


def _forms() -> dict[int, str]:
    """The ASCII character that each of these code points is read as."""
    compatible = (0x00A0, 0x02B0, *range(0x1D2C, 0x1D6B), *range(0x2000, 0x2190), *range(0x2460, 0x2500), 0x3000)
    candidates = (*compatible, *range(0xFE10, 0xFE70), *range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800))
    forms = {code: unicodedata.normalize("NFKC", chr(code)) for code in candidates}
    forms = {code: form for code, form in forms.items() if len(form) == 1 and form.isascii()}
    for ascii_char, lookalikes in _LOOKALIKES.items():
        forms |= dict.fromkeys(map(ord, lookalikes), ascii_char)
    return forms


# Brackets, and the letters of the marker's name as letters whose difference is easily overlooked.
_LOOKALIKES = {
    "<": "‹〈⟨❮❬˂ᐸ⧼≺≪«〈《",
    ">": "›〉⟩❯❭˃ᐳ⧽≻≫»〉》",
    "/": "⁄∕⧸╱⟋",
    "u": "υцսʋùúûüũūŭůűųư",
    "n": "ոпηñńņňŉŋ",
    "t": "тτţťŧТΤ",
    "r": "гŕŗřʀ",
    "s": "ѕśŝşšЅ",
    "e": "еεҽèéêëēĕėęěЕΕ",
    "d": "ԁđď",
}
_FORMS = _forms()
# What every spelling of an opening bracket starts with: most text has none of it and is done here.
_OPENING = "<&%\\"
_OPENER = re.compile(
    f"[{re.escape(_OPENING + ''.join(chr(code) for code, form in _FORMS.items() if form in _OPENING))}]"
)


def _compiled_marker() -> re2._Regexp:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(_marker_pattern(), options)


_MARKER = _compiled_marker()
