"""The evidence of a move: who moved which version, on what, with which impact, and when it is looked at again.

One pack a move, kept for ever. All packs of a version with its contract make one self-contained file; its digest is
SHA-256 over everything else in it (RFC 8785), so whoever has the file can see whether it was changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from interlock.core.canonical import Json, canonical, decode, sha256_hex
from interlock.core.lifecycle import Lifecycle
from interlock.core.move_gates import Grounds, Weighed
from interlock.core.retirement import at_time
from interlock.core.tool import Document, spec_to_json
from interlock.core.typed import from_json

FORMAT: Final = "interlock.evidence/1"
NOTHING: Final = Document(b"{}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """The evidence of one move of one version. `started` is none where it was published into `to`.

    `gate` says how each need of the move stood, `held_to` whether this installation holds moves to that. `impact` is
    what rested on the version then, `readiness` what was known of its examples; both are JSON.
    """

    id: str
    tenant: str
    source: str
    name: str
    version: str
    digest: str
    to: Lifecycle
    at_us: int
    by: str
    grounds: Grounds
    started: Lifecycle | None = None
    on_behalf_of: str = ""
    actor: str = ""
    owner: str = ""
    business_owner: str = ""
    held_to: bool = False
    gate: tuple[Weighed, ...] = ()
    impact: Document = NOTHING
    readiness: Document = NOTHING
    retirement: Document = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveEvidence:
    """All that is kept of the moves of one version, oldest first, with its contract (the spec as JSON)."""

    name: str
    version: str
    digest: str
    contract: Document
    packs: tuple[Pack, ...] = field(default_factory=tuple)

    def to_json(self) -> bytes:
        """The whole as one self-contained JSON document with its digest."""
        body: dict[str, Json] = {
            "format": FORMAT,
            "name": self.name,
            "version": self.version,
            "spec_digest": self.digest,
            "contract": self.contract.value,
            "moves": [spec_to_json(each) for each in self.packs],
        }
        return canonical({**body, "digest": sha256_hex(canonical(body))})

    def to_markdown(self) -> str:
        """The same for people to read."""
        lines = [
            f"# {_line(self.name)} {_line(self.version)}: evidence",
            "",
            f"Digest of the spec: `{self.digest}`",
            "",
        ]
        for pack in self.packs:
            lines += [*_told(pack), ""]
        return "\n".join([*lines, f"Digest of this evidence: `{_digest_in(self.to_json())}`", ""])


def is_whole(document: bytes) -> bool:
    """Whether a file of evidence is as it was written."""
    try:
        read = decode(document)
    except ValueError:
        return False
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        return False
    return read.pop("digest", None) == sha256_hex(canonical(read))


def pack_from_json(value: Json) -> Pack:
    """What `spec_to_json` made of one. Raises `ValueError` where it is none."""
    return from_json(Pack, value)


def packs_to_bytes(packs: Iterable[Pack]) -> bytes:
    """The body of the document that keeps the moves of a version."""
    return canonical({"packs": [spec_to_json(each) for each in packs]})


def packs_from_bytes(body: bytes) -> tuple[Pack, ...]:
    """The moves in a body, oldest first. Raises `ValueError` where it holds none."""
    read = decode(body)
    packs = read.get("packs") if isinstance(read, dict) else None
    return in_order(pack_from_json(each) for each in (packs if isinstance(packs, list) else [None]))


def review_day(packs: Iterable[Pack]) -> str:
    """The day on which a version is to be looked at again: the one named last. A move that names none keeps it; what
    is retired is looked at no more."""
    latest_first = [*packs][::-1]
    if latest_first and latest_first[0].to is Lifecycle.RETIRED:
        return ""
    return next((each.grounds.review_on for each in latest_first if each.grounds.review_on), "")


def in_order(packs: Iterable[Pack]) -> tuple[Pack, ...]:
    """Oldest first."""
    return tuple(sorted(packs, key=lambda each: (each.at_us, each.id)))


def _digest_in(document: bytes) -> str:
    read = decode(document)
    return str(read["digest"]) if isinstance(read, dict) else ""


def _told(pack: Pack) -> list[str]:
    started = "published" if pack.started is None else f"{pack.started.value} to"
    grounds = pack.grounds
    said: Mapping[str, str] = {
        "Reason": grounds.reason,
        "By": " for ".join(dict.fromkeys(each for each in (pack.by, pack.on_behalf_of) if each)),
        "At the keyboard": pack.actor,
        "Owner": ", ".join(each for each in (pack.owner, pack.business_owner) if each),
        "Rests on": ", ".join(grounds.samples),
        "Disposition": grounds.disposition,
        "Way back": grounds.rollback,
        "To be reviewed on": grounds.review_on,
        "To be expanded when": "; ".join(grounds.expand_when),
        "To be withdrawn when": "; ".join(grounds.withdraw_when),
    }
    lines = [f"## {at_time(pack.at_us)}: {started} {pack.to.value}", ""]
    lines += [f"- {name}: {_line(value)}" for name, value in said.items() if value]
    if pack.gate:
        held = "" if pack.held_to else " (this installation does not hold moves to it)"
        lines += ["", f"| needed{held} | | |", "|---|---|---|"]
        lines += [f"| {each.need.value} | {each.stands.value} | {_line(_said(each))} |" for each in pack.gate]
    return [*lines, "", *_impact(pack)]


def _said(weighed: Weighed) -> str:
    return f"{weighed.says} ({weighed.by})" if weighed.by else weighed.says


def _impact(pack: Pack) -> list[str]:
    value = pack.impact.value
    found = value if isinstance(value, dict) else {}
    counts = [(kind, each.get("count") if isinstance(each, dict) else each) for kind, each in found.items()]
    if not counts:
        return []
    return ["Impact: " + ", ".join(f"{kind} {_line(str(count))}" for kind, count in counts) + "."]


_MARKS: Final = str.maketrans({each: f"\\{each}" for each in "\\`*_[]<>#|"})


def _line(text: str) -> str:
    """A text of somebody's on one line, which says nothing in Markdown."""
    return " ".join(text.split()).translate(_MARKS)
