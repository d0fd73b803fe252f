"""Names of an MCP server's tools: which of them look like another, and what each is called here."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from interlock.core.canonical import sha256_hex
from interlock.core.text import clean, visible
from interlock.importers.openapi_names import tool_names

_LIKE_LATIN = str.maketrans(
    "αβγεζηικμνορτυχавеѕіјкмнорстухьһԁԛԝհոսօⅼӏ",
    "abyezhikmvoptuxabesijkmhopctyxbhdqwhnuoll",
)


def misnamed(names: Iterable[str]) -> Mapping[str, str]:
    """Names that cannot be told from another by who reads them, or hold what nobody sees, with the reason.

    Of names that look alike one of plain ASCII stays, if it is the only one: nobody takes another's name from it.
    """
    found: dict[str, str] = {}
    alike: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        if clean(name).removed or not name.isprintable() or name != name.strip():
            found[name] = "its name holds characters that nobody sees"
        elif visible(name) != name:
            found[name] = "its name holds letters that pass for others"
        else:
            alike[_skeleton(name)].append(name)
    for group in alike.values():
        plain = [each for each in group if each.isascii()]
        refused = [each for each in group if len(plain) != 1 or each not in plain]
        if len(group) > 1:
            found |= {each: f"its name looks like that of {_other(each, group)}" for each in refused}
    return found


def own_names(names: Iterable[str], *, prefix: str = "") -> Mapping[str, str]:
    """What each tool is called here: a name that every provider takes, and that no other tool of the server has."""
    return tool_names((name, f"{prefix}{_ascii(name)}") for name in names)


def _ascii(name: str) -> str:
    """Its letters of ASCII; where those are not all of it, with a mark of the whole."""
    if name.isascii() and any(each.isalnum() for each in name):
        return name
    plain = "".join(each for each in name if each.isascii() and (each.isalnum() or each in "_-"))
    return f"{plain or 'tool'}_{sha256_hex(name.encode('utf-8', 'surrogatepass'))[:6]}"


def _skeleton(name: str) -> str:
    """What is left of a name once letters that look alike are one."""
    return unicodedata.normalize("NFKC", name).casefold().translate(_LIKE_LATIN)


def _other(name: str, group: list[str]) -> str:
    return visible(next(each for each in group if each != name))
