"""Evidence says what a result may be used for and what it was made from."""

from __future__ import annotations

from enum import StrEnum

from interlock.core.frozen import frozen


class EvidenceKind(StrEnum):
    """AUTHORITATIVE may be cited, CANDIDATE needs choosing or checking, STATUS only drives the flow."""

    AUTHORITATIVE = "authoritative"
    CANDIDATE = "candidate"
    STATUS = "status"


@frozen
class Source:
    """One place that a result was taken from; lines count from 1 and both ends are included."""

    uri: str
    title: str = ""
    line_first: int | None = None
    line_last: int | None = None


@frozen
class EvidenceRule:
    """What a tool declares about the evidence that its results are."""

    kind: EvidenceKind = EvidenceKind.STATUS
    quotable: bool = False
    reportable: bool = False
    confirm: bool = False
    scope: str = ""

    @property
    def plain(self) -> Evidence:
        """What a result is evidence of that names no sources."""
        return Evidence(self.kind, self.quotable, self.reportable, self.confirm, self.scope)


@frozen
class Evidence:
    """What one result is evidence of. Times are integer microseconds since 1970 UTC."""

    kind: EvidenceKind
    quotable: bool = False
    reportable: bool = False
    confirm: bool = False
    scope: str = ""
    sources: tuple[Source, ...] = ()
    data_time_us: int | None = None
    data_version: str = ""


STATUS_ONLY = EvidenceRule()
