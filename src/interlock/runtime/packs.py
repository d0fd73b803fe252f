"""Where the evidence of a version's moves is kept: one document a version, which each move adds its pack to."""

from __future__ import annotations

from typing import Final

from interlock.core.call import Principal
from interlock.core.canonical import canonical, sha256_hex
from interlock.core.evidence_pack import Pack, packs_from_bytes, packs_to_bytes
from interlock.core.lifecycle import Lifecycle
from interlock.core.move_gates import Grounds
from interlock.ports import Document, DocumentKind, Registered
from interlock.runtime.documents import held_in, unwritten
from interlock.runtime.versions import spec_to_move

NAME_CHARS_MAX: Final = 512

PUBLISHED: Final = Grounds(reason="published")


def name_of(found: Registered) -> str:
    """The name of a document that is about one version: what it is, unmistakably; its hash where that is too long."""
    text = canonical([found.source, found.name, found.version]).decode()
    return text if len(text) <= NAME_CHARS_MAX else sha256_hex(text.encode())


def pack_of(found: Registered, *, to: Lifecycle, by: Principal, at_us: int, grounds: Grounds = PUBLISHED) -> Pack:
    """The pack of a move as far as who and what; the desk adds how its gate stood, and the impact."""
    spec = spec_to_move(found, to)
    return Pack(
        id=f"{at_us}-{to.value}",
        tenant=found.tenant,
        source=found.source,
        name=found.name,
        version=found.version,
        digest=found.digest,
        to=to,
        at_us=at_us,
        by=by.id,
        on_behalf_of=by.acting_for or "",
        actor=by.actor,
        grounds=grounds,
        owner=spec.owner,
        business_owner=spec.business_owner,
    )


def published(found: Registered, *, by: Principal, at_us: int) -> Document:
    """The evidence that begins with a version's publication."""
    pack = pack_of(found, to=found.state, by=by, at_us=at_us)
    return added(unwritten(DocumentKind.EVIDENCE, tenant=found.tenant, name=name_of(found)), pack)


def added(document: Document, pack: Pack) -> Document:
    """The evidence with one move more."""
    packs = [*packs_in(document), pack]
    return document.changed(packs_to_bytes(packs))


def packs_in(document: Document) -> tuple[Pack, ...]:
    """The moves that are kept, oldest first. Raises `StoreError` where they cannot be read."""
    return held_in(document, packs_from_bytes, what=f"the evidence {document.name}") or ()


def submitter_of(packs: tuple[Pack, ...]) -> str:
    """Who published it, as far as that is kept."""
    return packs[0].by if packs and packs[0].started is None else ""


def stood(packs: tuple[Pack, ...], *, now: Lifecycle) -> Lifecycle | None:
    """Where a frozen version stood before it was frozen; None: that is not known, or it is not frozen."""
    if now is not Lifecycle.FROZEN or not packs or packs[-1].to is not Lifecycle.FROZEN:
        return None
    return packs[-1].started
