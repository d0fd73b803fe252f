"""Where the requests go: fixed by who imports, variables included, and by nobody afterwards."""

from __future__ import annotations

import re
from collections.abc import Mapping

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.http_template import read_url
from interlock.importers.openapi_document import Object, OpenApi, Unfit, listed, mapping
from interlock.importers.openapi_document import Place as Operation

_VARIABLE = re.compile(r"\{([^{}]*)\}")


def fixed_server(document: OpenApi, server: str, variables: Mapping[str, str]) -> str:
    """The base of every request: `server`, or the document's only one. Raises `SpecInvalid`.

    A `{variable}` takes what is given for it, which must be one of the document's values where it lists them.
    """
    if not server:
        found = [str(mapping(each).get("url", "")) for each in _listed(document.root.get("servers"))]
        if len(found) != 1 or not found[0].startswith(("https://", "http://")):
            said = ", ".join(found)[:300]
            raise SpecInvalid("say the server that requests go to" + (f"; the document names {said}" if said else ""))
        server = found[0]
    declared = [mapping(each) for each in _listed(document.root.get("servers"))]
    known = next((mapping(each.get("variables")) for each in declared if each.get("url") == server), {})
    filled = _filled(server, known, variables)
    unused = variables.keys() - _VARIABLE.findall(server)
    if unused:
        raise SpecInvalid(f"the server {server} has no variable {min(unused)}")
    return checked_server(filled)


def checked_server(server: str) -> str:
    """A base that requests may have, without a slash at its end. Raises `SpecInvalid`."""
    url = read_url(server)
    if url.query or "{" in server:
        raise SpecInvalid(f"{server!r} must be the beginning of an address, without query and variables")
    return f"{url.origin}{url.path.rstrip('/')}"


def refuse_other_server(operation: Operation, document: OpenApi, server: str) -> None:
    """Raises `Unfit` where an operation has a server of its own, and that is not the one which was fixed."""
    own, pointer = mapping(operation.value).get("servers"), f"{operation.pointer}/servers"
    if own is None:
        own, pointer = operation.shared.get("servers"), f"{operation.pointer.rpartition('/')[0]}/servers"
    if own is None or own == document.root.get("servers"):
        return
    found = [mapping(each) for each in listed(own, pointer)]
    if found and not any(_is(each, server) for each in found):
        urls = ", ".join(str(each.get("url"))[:120] for each in found)
        raise Unfit(f"it has a server of its own ({urls}); import it with that server", pointer)


def _is(given: Object, server: str) -> bool:
    try:
        return checked_server(_filled(str(given.get("url")), mapping(given.get("variables")), {})) == server
    except SpecInvalid:
        return False


def _filled(server: str, known: Object, variables: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1]
        declared = mapping(known.get(name))
        given = variables.get(name, declared.get("default"))
        if not isinstance(given, str):
            raise SpecInvalid(f"say the server's variable {name}")
        allowed = declared.get("enum")
        if isinstance(allowed, list) and given not in allowed:
            raise SpecInvalid(f"the server's variable {name} is one of {', '.join(map(str, allowed))}, not {given!r}")
        return given

    return _VARIABLE.sub(value, server)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
