"""A tool as an MCP server lists it: the members of it that anybody reads, and the digest that pins them.

All of it is the server's word. `_meta`, icons and whatever else a server adds reach no model, policy or request, so
they are no part of the digest: what nobody reads may change.
"""

from __future__ import annotations

from typing import Final

from interlock.core.canonical import Json, sha256_hex
from interlock.core.errors import SchemaInvalid
from interlock.core.frozen import frozen
from interlock.core.schema_bounds import SchemaLimits, check_size
from interlock.core.tool import Document

MEMBERS: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution")
BYTES_MAX: Final = 524_288
NAME_CHARS_MAX: Final = 128

_LIMITS: Final = SchemaLimits(bytes_max=BYTES_MAX)
_KINDS: Final = {
    "title": (str, "a text"),
    "description": (str, "a text"),
    "inputSchema": (dict, "an object"),
    "outputSchema": (dict, "an object"),
    "annotations": (dict, "an object"),
    "execution": (dict, "an object"),
}


@frozen
class Listed:
    """One entry of a list, as far as it is read."""

    name: str
    document: Document

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over every member that is read, however its keys are ordered."""
        return sha256_hex(self.document.text)

    @property
    def members(self) -> dict[str, Json]:
        """A fresh copy of them, by name."""
        found = self.document.value
        return found if isinstance(found, dict) else {}


@frozen
class Unlisted:
    """An entry that is no tool, by its name where it has one, and why."""

    name: str
    reason: str


def read_listed(given: Json) -> Listed | Unlisted:
    """One entry of a list. Total: whatever a server writes, it harms no other entry."""
    if not isinstance(given, dict):
        return Unlisted("", "it is no object")
    name = given.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= NAME_CHARS_MAX:
        shown = name[:NAME_CHARS_MAX] if isinstance(name, str) else ""
        return Unlisted(shown, f"its name is no text of 1 to {NAME_CHARS_MAX} characters")
    members = {each: given[each] for each in MEMBERS if given.get(each) is not None}
    for member, (kind, said) in _KINDS.items():
        if member in members and not isinstance(members[member], kind):
            return Unlisted(name, f"its {member} is not {said}")
    if "inputSchema" not in members:
        return Unlisted(name, "it has no inputSchema")
    return _bounded(name, members)


def _bounded(name: str, members: dict[str, Json]) -> Listed | Unlisted:
    try:
        check_size(members, limits=_LIMITS)
        document = Document.of(members)
    except SchemaInvalid:
        return Unlisted(name, f"it is larger than {BYTES_MAX} bytes, or nests too deeply")
    except (ValueError, TypeError, RecursionError):
        return Unlisted(name, "it is no JSON")
    if len(document.text) > BYTES_MAX:
        return Unlisted(name, f"it is larger than {BYTES_MAX} bytes")
    return Listed(name, document)
