"""What all snapshots share when they are written and renewed: version numbers, and options as files say them."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.canonical import Json
from interlock.core.tool import spec_to_json


def next_version(version: str) -> str:
    """The number after a plain one; any other stays, and is raised by hand."""
    return str(int(version) + 1) if version.isascii() and version.isdecimal() else version


def written_options(options: Mapping[str, object]) -> dict[str, Json]:
    """Options of a declaration as a file says them."""
    found = {name: spec_to_json(each) for name, each in options.items() if name != "resource"}
    resource = options.get("resource")
    if isinstance(resource, tuple):
        kind, place = resource
        found["resource"] = {"type": kind, "id": place}
    return found
