"""How an operation says who calls: the first of its ways that can be sent, as secrets by name, bound to the server."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.canonical import Json
from interlock.core.http_template import Credential, CredentialPlace
from interlock.core.text import clean
from interlock.importers.openapi_document import Object, OpenApi, Unfit, listed, mapping
from interlock.importers.openapi_document import Place as Operation

_PLACES = {"header": CredentialPlace.HEADER, "query": CredentialPlace.QUERY, "cookie": CredentialPlace.COOKIE}


def read_security(operation: Operation, document: OpenApi) -> tuple[tuple[str, Credential], ...]:
    """The credentials, each with its scheme's name, which stands for a secret until one is bound. Raises `Unfit`."""
    own = mapping(operation.value).get("security")
    pointer = f"{operation.pointer}/security" if own is not None else "/security"
    ways = listed(own if own is not None else document.root.get("security"), pointer)
    reasons: list[str] = []
    for way in ways:
        try:
            return _credentials(mapping(way), document)
        except Unfit as fault:
            reasons.append(fault.reason)
    if reasons:
        raise Unfit("; ".join(dict.fromkeys(reasons)), pointer)
    return ()


def bound(credential: Credential, secret: str) -> Credential:
    """The credential with the name that the host's secrets have for it."""
    user = f"{secret}/user" if credential.place is CredentialPlace.BASIC else ""
    return Credential(secret, credential.place, credential.name, user)


def secret_names(schemes: Mapping[str, object], *, authority: str) -> Mapping[str, str]:
    """A name of a secret for each scheme. The server is part of it: no other server is ever sent the same one."""
    return {name: f"{authority}/{name}" for name in schemes}


def _credentials(way: Object, document: OpenApi) -> tuple[tuple[str, Credential], ...]:
    found = tuple((name, _credential(name, document)) for name in way)
    headers = [_header(each) for _, each in found]
    if len(set(headers)) < len(headers):
        raise Unfit(f"{' and '.join(way)} would stand in one place")
    return found


def _header(credential: Credential) -> tuple[str, str]:
    if credential.place in (CredentialPlace.BEARER, CredentialPlace.BASIC):
        return "header", "authorization"
    is_header = credential.place is CredentialPlace.HEADER
    return credential.place.value, credential.name.lower() if is_header else credential.name


def _credential(name: str, document: OpenApi) -> Credential:
    schemes = mapping(mapping(document.root.get("components")).get("securitySchemes"))
    if clean(name).removed:
        raise Unfit("the name of a security scheme holds characters that nobody sees")
    if name not in schemes:
        raise Unfit(f"the security scheme {name} is not declared")
    scheme, _ = document.follow(schemes[name], f"/components/securitySchemes/{name}")
    kind, spelled = scheme.get("type"), str(scheme.get("scheme", "")).lower()
    if kind in ("oauth2", "openIdConnect") or (kind, spelled) == ("http", "bearer"):
        return Credential(name, CredentialPlace.BEARER)
    if (kind, spelled) == ("http", "basic"):
        return Credential(name, CredentialPlace.BASIC)
    if kind == "apiKey" and str(scheme.get("in")) in _PLACES:
        return Credential(name, _PLACES[str(scheme["in"])], _text(scheme.get("name"), name))
    raise Unfit(f"the security scheme {name} ({str(kind)[:40]} {spelled[:40]}".rstrip() + ") cannot be sent")


def _text(value: Json, scheme: str) -> str:
    if not isinstance(value, str) or not value:
        raise Unfit(f"the security scheme {scheme} needs a name")
    return value
