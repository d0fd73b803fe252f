"""A snapshot of an OpenAPI document: what was read of it, and what a person allows of that; a file to commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.core.canonical import Json
from interlock.core.http_template import read_url
from interlock.core.text import visible
from interlock.declare.typed_values import check_keys
from interlock.importers.openapi_decisions import Decision, read_decision
from interlock.importers.openapi_document import OpenApi
from interlock.importers.openapi_operations import Read, Reader, Reading, Unmade
from interlock.importers.openapi_security import secret_names
from interlock.importers.openapi_servers import checked_server, fixed_server
from interlock.importers.snapshots import (
    Form,
    names_apart,
    next_version,
    read_fields,
    refuse_same_names,
    written_options,
)
from interlock.importers.yaml_text import write_yaml

_SHOWN_MAX = 500
_HEAD = """\
# A reviewed import of an OpenAPI document, written by `interlock import openapi` and kept by people: set
# `allow: true` on what may be a tool, and say what it may do. What was read of an operation is pinned by its
# digest: where the document says otherwise later on, it is no tool until this file is renewed and reviewed.
"""
_FORM = Form(
    format="openapi-1",
    of="an OpenAPI document",
    fields={
        "file": str,
        "source": dict[str, str],
        "server": str,
        "owner": str,
        "secrets": dict[str, str],
        "operations": dict[str, Any],
        "not_tools": dict[str, str],
    },
    needed=("server", "owner", "operations"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A document as it was reviewed. `file` is where it lies, from the snapshot's folder; `source` says what it was.

    `secrets` names a secret of the host's for each security scheme; `not_tools` are places that make no tool, and why.
    """

    server: str
    owner: str
    source: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, Decision] = field(default_factory=dict)
    not_tools: Mapping[str, str] = field(default_factory=dict)
    file: str = ""


def take_snapshot(
    document: OpenApi, *, owner: str, server: str = "", variables: Mapping[str, str] | None = None
) -> Snapshot:
    """A snapshot that allows nothing yet. Raises `SpecInvalid` where it is open to which server requests go."""
    base = fixed_server(document, server, variables or {})
    reading = Reader(document, base).all()
    schemes = {name: None for each in reading.operations for name, _ in each.schemes}
    authority = read_url(base).origin.authority
    return Snapshot(
        server=base,
        owner=owner,
        source={"digest": document.digest, "title": document.title, "openapi": document.version},
        secrets=secret_names(schemes, authority=authority),
        operations={each.key: _fresh(each, reading) for each in reading.operations},
        not_tools=dict(map(_not_a_tool, reading.unmade)),
    )


def renewed(fresh: Snapshot, before: Snapshot, *, accept: Iterable[str] = ()) -> Snapshot:
    """The fresh snapshot with what was decided before. What has changed is closed again, unless it is accepted.

    Raises `SpecInvalid` where what is accepted is no operation of the document.
    """
    accepted = frozenset(accept)
    check_keys(dict.fromkeys(accepted), fresh.operations, path="--accept")
    kept = {
        key: _kept(each, before.operations.get(key), accept=key in accepted) for key, each in fresh.operations.items()
    }
    for key, name in names_apart(kept, before=before.operations).items():
        kept[key] = replace(kept[key], name=name)
    secrets = {**fresh.secrets, **{name: each for name, each in before.secrets.items() if name in fresh.secrets}}
    return replace(fresh, operations=kept, secrets=secrets, file=before.file)


def read_snapshot(data: bytes) -> Snapshot:
    """The snapshot that a file holds. Raises `SpecInvalid` with the place."""
    found = read_fields(data, _FORM)
    given = found.pop("operations")
    operations = {key: read_decision(each, path=f"operations[{key}]") for key, each in given.items()}
    refuse_same_names(operations.values(), what="operations")
    server = checked_server(found.pop("server"))
    return Snapshot(**found, operations=operations, server=server)


def write_snapshot(snapshot: Snapshot) -> str:
    """The file: YAML for people."""
    document: dict[str, Json] = {
        "snapshot": _FORM.format,
        "file": snapshot.file,
        "source": dict[str, Json](snapshot.source),
        "server": snapshot.server,
        "owner": snapshot.owner,
        "secrets": dict[str, Json](snapshot.secrets),
        "operations": {key: _written(each) for key, each in snapshot.operations.items()},
        "not_tools": dict[str, Json](snapshot.not_tools),
    }
    return write_yaml(_HEAD, document)


def _written(decision: Decision) -> Json:
    """What was decided, what is not said by default left out."""
    options = written_options(decision.options)
    said: dict[str, Json] = {
        "hide": [*decision.hide],
        "fix": dict(decision.fix),
        "narrow": {name: dict(each) for name, each in decision.narrow.items()},
        "nothing_happened": [*decision.nothing_happened],
    }
    return {
        "allow": decision.allow,
        "name": decision.name,
        "effect": decision.effect.value,
        **({"version": decision.version} if decision.version != "1" else {}),
        **{name: each for name, each in said.items() if each},
        **options,
        "digest": decision.digest,
        "read": dict[str, Json](decision.read),
    }


def _fresh(read: Read, reading: Reading) -> Decision:
    notes = {"remarks": "; ".join(read.notes)} if read.notes else {}
    return Decision(
        name=reading.names[read.key], effect=read.options["effect"], digest=read.digest, read={**read.shown, **notes}
    )


def _not_a_tool(found: Unmade) -> tuple[str, str]:
    """Its place and why, both as a person can see them."""
    return visible(found.key or found.pointer)[:_SHOWN_MAX], visible(f"{found.reason} (#{found.pointer[:_SHOWN_MAX]})")


def _kept(fresh: Decision, before: Decision | None, *, accept: bool) -> Decision:
    if before is None:
        return fresh
    if before.digest == fresh.digest:
        return replace(before, read=fresh.read)
    version = next_version(before.version)
    return replace(before, allow=before.allow and accept, digest=fresh.digest, read=fresh.read, version=version)
