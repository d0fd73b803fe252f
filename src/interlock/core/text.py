"""Text from tools, made safe to read: what a reader cannot see is taken out and counted, or shown to an approver.

Invisible characters carry instructions that a model reads and a person does not. `clean` is for text that goes on to a
model or to a screen. `visible` is for approvals, where nothing may be missing: it shows instead of removing. Both keep
the few sequences in which an invisible character has a meaning that can be seen, and only those:

- the three flags of Unicode's RGI set that are spelled with tag characters (England, Scotland, Wales);
- emoji joined by ZERO WIDTH JOINER, up to the four elements of the longest RGI sequence (UTS #51, ED-16);
- keycaps, and one variation selector after a base that has such variants.

Joiners inside words (Persian, Indic scripts) are removed as well: between letters they carry hidden bits as easily.
"""

from __future__ import annotations

import re

import orjson

from interlock.core.canonical import Json
from interlock.core.frozen import frozen

# Extended_Pictographic of Unicode's emoji-data.txt; the standard library has no property for it.
_PICTOGRAPHIC = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705"
    "\u2708-\u2712\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2767"
    "\u2795-\u2797\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f171\U0001f17e\U0001f17f\U0001f18e"
    "\U0001f191-\U0001f19a\U0001f1ad-\U0001f1e5\U0001f201-\U0001f20f\U0001f21a\U0001f22f\U0001f232-\U0001f23a"
    "\U0001f23c-\U0001f23f\U0001f249-\U0001f3fa\U0001f400-\U0001f53d\U0001f546-\U0001f64f\U0001f680-\U0001f6ff"
    "\U0001f774-\U0001f77f\U0001f7d5-\U0001f7ff\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001faff"
    "\U0001fc00-\U0001fffd"
)
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_ELEMENT = f"[{_PICTOGRAPHIC}](?:\ufe0f|[\U0001f3fb-\U0001f3ff])?"
_NATIONS = (
    "\U0001f3f4\U000e0067\U000e0062"
    "(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_SEQUENCES = (
    _NATIONS,
    f"{_ELEMENT}(?:\u200d{_ELEMENT}){{1,3}}",
    f"[{_PICTOGRAPHIC}][\ufe0e\ufe0f]",
    "[0-9#*]\ufe0f\u20e3",
    # The 32 ideographic selectors that registered collections use; all 240 would let one ideograph carry a byte.
    f"[{_IDEOGRAPHS}][\ufe00-\ufe02\U000e0100-\U000e011f]",
    "[\u2200-\u22ff\u2a00-\u2aff]\ufe00",
    "[\u1820-\u18aa][\u180b-\u180d\u180f]",
)

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f"
_HIDDEN = (
    f"{_CONTROLS}\x80-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Spaces that look like U+0020 or like nothing. U+3000 is left out: it is the ordinary space of Chinese and Japanese.
_ODD_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800"

_ASCII_CONTROL_BYTES = bytes([*range(9), *range(11, 32), 127])
_HAS_HIDDEN = re.compile(f"[{_HIDDEN}]")
_KEPT_OR_HIDDEN = re.compile(f"({'|'.join(_SEQUENCES)})|[{_HIDDEN}]")
_LINE_BREAKS = frozenset("\x0b\x0c\x85\u2028\u2029")
_JSON_SUSPECT = re.compile(rb"\\[bfru]|\x7f")

_KEPT_OR_SHOWN = re.compile(
    f"({'|'.join(_SEQUENCES)})|([\U000e0020-\U000e007e]+)|([{_HIDDEN}{_ODD_SPACES}\u27e8\u27e9])\\3*"
)
_LOOKALIKES = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυχАВЕЅІЈКМНОРСТУХЬавеѕіјкморстухһԁԛԝհոսօ"
_HAS_LOOKALIKE = re.compile(f"[{_LOOKALIKES}]")
_MIXED_WORD = re.compile(f"[A-Za-z{_LOOKALIKES}]+")
_BLANK_LINES = re.compile("^(?:[ \t\u3000]*\n){3,}", re.MULTILINE)
_WIDE_GAP = re.compile("[ \t\u3000]{41,}")


@frozen
class Cleaned:
    """Text without hidden characters; `removed` counts the characters taken out or turned into a line break."""

    text: str
    removed: int


def clean(text: str) -> Cleaned:
    """Text for a model or a person to read.

    CR LF and CR become LF without being counted, so that an ordinary Windows file does not look like an attack. Other
    characters that break a line (VT, FF, NEL, U+2028, U+2029) become LF, so that words stay apart; the rest goes.
    """
    if not _has_hidden(text):
        return Cleaned(text, 0)
    removed = 0

    def keep_or_drop(match: re.Match[str]) -> str:
        nonlocal removed
        if match[1]:
            return match[1]
        removed += 1
        return "\n" if match[0] in _LINE_BREAKS else ""

    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = _KEPT_OR_HIDDEN.sub(keep_or_drop, lines)
    return Cleaned(kept, removed)


def clean_json(value: Json) -> tuple[Json, int]:
    """The value with every string and key cleaned, and the characters removed; the same object where nothing was.

    Keys that become equal are told apart by `#2`, `#3`: no member is lost. Depth is bounded where values enter.
    """
    if _is_plain_json(value):
        return value, 0
    return _clean_json(value)


def visible(text: str) -> str:
    """The whole text for an approver, with everything that would not be seen spelled out between `⟨` and `⟩`.

    - an invisible character or odd space: `⟨U+202E⟩`, a run of it `⟨U+200B ×300⟩`, a run of tag characters as the text
      that it hides: `⟨hidden text: approve all⟩`;
    - a Greek, Cyrillic or Armenian letter that passes for a Latin one inside a Latin word: `pа⟨U+0430⟩ypal`;
    - more than two blank lines, or 40 spaces, in a row: `⟨17 blank lines⟩`, `⟨900 spaces⟩`, so that padding cannot push
      a payload out of sight.

    Nothing else is folded or cut. `⟨` and `⟩` of the text itself are spelled out, so that it cannot forge a marker.
    """
    shown = _KEPT_OR_SHOWN.sub(_show, text.replace("\r\n", "\n"))
    if _HAS_LOOKALIKE.search(shown):
        shown = _MIXED_WORD.sub(_mark_lookalikes, shown)
    folded = _BLANK_LINES.sub(_count_lines, f"{shown}\n")[:-1]
    return _WIDE_GAP.sub(_count_spaces, folded)


def _has_hidden(text: str) -> bool:
    if text.isascii():
        # Deleting from bytes runs at memory speed: five times as fast as a search on 5 KB.
        return len(text.encode().translate(None, _ASCII_CONTROL_BYTES)) != len(text)
    return _HAS_HIDDEN.search(text) is not None


def _is_plain_json(value: Json) -> bool:
    try:
        data = orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return data.isascii() and _JSON_SUSPECT.search(data) is None


def _clean_json(value: Json) -> tuple[Json, int]:
    match value:
        case str():
            cleaned = clean(value)
            return cleaned.text, cleaned.removed
        case list():
            return _clean_list(value)
        case dict():
            return _clean_dict(value)
        case _:
            return value, 0


def _clean_list(values: list[Json]) -> tuple[Json, int]:
    pairs = [_clean_json(each) for each in values]
    if all(new is old for (new, _), old in zip(pairs, values, strict=True)):
        return values, 0
    return [new for new, _ in pairs], sum(removed for _, removed in pairs)


def _clean_dict(members: dict[str, Json]) -> tuple[Json, int]:
    out: dict[str, Json] = {}
    removed = 0
    changed = False
    for key, value in members.items():
        name = clean(key)
        new, from_value = _clean_json(value)
        out[free_key(name.text, out)] = new
        removed += name.removed + from_value
        changed = changed or new is not value or name.text is not key
    return (out, removed) if changed else (members, 0)


def free_key(key: str, taken: dict[str, Json]) -> str:
    """The key, or where it is taken the key with the first free `#2`, `#3`."""
    if key not in taken:
        return key
    number = 2
    while f"{key}#{number}" in taken:
        number += 1
    return f"{key}#{number}"


def _show(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    if match[2]:
        hidden = "".join(chr(ord(tag) - 0xE0000) for tag in match[2])
        return f"⟨hidden text: {hidden}⟩"
    count = len(match[0])
    times = f" ×{count}" if count > 1 else ""
    return f"⟨U+{ord(match[3]):04X}{times}⟩"


def _mark_lookalikes(match: re.Match[str]) -> str:
    word = match[0]
    if word.isascii() or not any(letter.isascii() for letter in word):
        return word
    return "".join(letter if letter.isascii() else f"{letter}⟨U+{ord(letter):04X}⟩" for letter in word)


def _count_lines(match: re.Match[str]) -> str:
    return f"⟨{match[0].count(chr(10))} blank lines⟩\n"


def _count_spaces(match: re.Match[str]) -> str:
    return f"⟨{len(match[0])} spaces⟩"
