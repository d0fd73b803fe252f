"""Says which tool of the catalogue a proposed call means, by all that the wire names it by.

On the wire a tool is named by a hosted server's label, a namespace, a name, and by being one of the provider's own
kinds (a shell, a patch). The catalogue knows one name. So a driver proposes every call under its `catalogue_name`:

- a plain call of a tool that was offered is that tool;
- a hosted server's request for approval is `mcp:SERVER/NAME`: a tool of that name has a handler that does nothing, and
  where the gate let it run, the driver answers `openai_responses.APPROVED`, else with what the gate says;
- a call in a namespace is `ns:NAMESPACE/NAME`, one of the provider's own kinds `kind:KIND`, where that was offered;
- anything else is a name that begins with a blank, which no tool of a catalogue has: the gate answers that there is no
  such tool, and counts it.

Parts are spelled with percent signs where they hold other characters than letters, digits and `_.-`, so that no two
tools share a name, and `parts` reads the name back.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from interlock.models.names import WireNames
from interlock.models.turn import CallKind, Proposed

_PLAIN: Final = frozenset({CallKind.FUNCTION, CallKind.LEGACY_FUNCTION, CallKind.CUSTOM})
_NAMED: Final = re.compile(r"(?:mcp:(?P<server>[^/:]+)/)?(?:ns:(?P<namespace>[^/:]+)/)?(?P<name>[^/:]*)")
_OWN: Final = re.compile(r"kind:(?P<kind>[a-z_]+)")


class Parts(NamedTuple):
    """What the wire names a tool by. `kind` is there for the provider's own kinds alone."""

    server: str
    namespace: str
    name: str
    kind: str = ""


def catalogue_name(call: Proposed, names: WireNames) -> str:
    """The name to propose the call under. `names` are those of the tools that were offered in this session."""
    if call.server:
        name = qualified(Parts(call.server, call.namespace, call.name))
        return name if name not in names.to_wire else f" {name}"
    # Functions that a provider's own search found come back in a namespace of their own name.
    if call.kind in _PLAIN and call.namespace in {"", call.name}:
        return names.original(call.name) or f" {call.name}"
    own = "" if call.kind in _PLAIN else call.kind.value
    name = qualified(Parts("", call.namespace, call.name, own))
    return name if name in names.to_wire else f" {name}"


def qualified(parts: Parts) -> str:
    """The name in the catalogue of a tool that is not known by its name alone."""
    if parts.kind:
        return f"kind:{parts.kind}"
    server = f"mcp:{_spelled(parts.server)}/" if parts.server else ""
    namespace = f"ns:{_spelled(parts.namespace)}/" if parts.namespace else ""
    return f"{server}{namespace}{_spelled(parts.name)}" if server or namespace else parts.name


def parts(name: str) -> Parts:
    """What a name in the catalogue was made of; any other name stands for itself."""
    own, named = _OWN.fullmatch(name), _NAMED.fullmatch(name)
    if own:
        return Parts("", "", "", own["kind"])
    if named and (named["server"] or named["namespace"]):
        return Parts(_read(named["server"] or ""), _read(named["namespace"] or ""), _read(named["name"]))
    return Parts("", "", name)


def _spelled(part: str) -> str:
    return quote(part, safe="", errors="surrogatepass")


def _read(part: str) -> str:
    return unquote(part, errors="surrogatepass")
