"""Names of tools and arguments: legal for every provider, bounded, unique, and as stable as the document's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from interlock.core.canonical import sha256_hex
from interlock.core.choice import ALWAYS
from interlock.core.errors import SpecInvalid

NAME_CHARS_MAX = 60
_ILLEGAL = re.compile(r"[^A-Za-z0-9]+")
_ILLEGAL_ARGUMENT = re.compile(r"[^A-Za-z0-9_-]+")
_VERSION = re.compile(r"v[0-9]+")


def tool_names(operations: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The name of each operation, from its key (`GET /pets/{id}`) and its operationId, which may be empty.

    Where two would have one name, each gets a mark made of its own key: what is added later renames at most once. So
    does one that would be called as the gate's own tools are.
    """
    wanted = {key: _bounded(_plain(given, key), key) for key, given in operations}
    taken = Counter(name.lower() for name in wanted.values())
    taken.update(ALWAYS)
    return {key: name if taken[name.lower()] == 1 else _marked(name, key) for key, name in wanted.items()}


def refuse_own(name: str) -> None:
    """Raise `SpecInvalid` for what the gate's own tools are called: runs know those by their names alone."""
    if name.lower() in ALWAYS:
        raise SpecInvalid(f"name: {name} is what a tool of the gate itself is called; say another")


def argument_names(parameters: Iterable[tuple[str, str]]) -> list[str]:
    """The names of arguments, from place (`query`) and name on the wire; the first of one name keeps it."""
    found: list[str] = []
    for place, wire in parameters:
        plain = _ILLEGAL_ARGUMENT.sub("_", wire).strip("_") or f"{place}_{_digest(wire)}"
        plain = plain if len(plain) <= NAME_CHARS_MAX else f"{plain[: NAME_CHARS_MAX - 7]}_{_digest(wire)}"
        name = plain if plain not in found else f"{place}_{plain}"
        found.append(name if name not in found else f"{name}_{_digest(f'{place} {wire}')}")
    return found


def _plain(given: str, key: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", given).strip("_")
    return name or _of_path(key)


def _of_path(key: str) -> str:
    """`GET /v1/pets/{petId}` as `get_pets_by_petId`."""
    method, _, path = key.partition(" ")
    words = [method.lower()]
    for part in filter(None, path.split("/")):
        text = _ILLEGAL.sub("_", part).strip("_")
        if text and not _VERSION.fullmatch(text):
            words.append(f"by_{text}" if part.startswith("{") else text)
    return "_".join(words) if path.isascii() else f"{'_'.join(words)}_{_digest(key)}"


def _bounded(name: str, key: str) -> str:
    return name if len(name) <= NAME_CHARS_MAX else _marked(name, key)


def _marked(name: str, key: str) -> str:
    return f"{name[: NAME_CHARS_MAX - 7].rstrip('_')}_{_digest(key)}"


def _digest(text: str) -> str:
    return sha256_hex(text.encode("utf-8", "surrogatepass"))[:6]
