"""What a review says of one tool: the numbers of its log beside what the catalogue has of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum

from interlock.core.effect import Effect
from interlock.core.frozen import frozen
from interlock.core.lifecycle import CLOSED, Lifecycle
from interlock.core.review_counts import Numbers, quantile, summed
from interlock.core.review_runs import Signs
from interlock.core.tool import ToolSpec


class Gap(StrEnum):
    """What a tool lacks."""

    OWNER = "owner"
    BUSINESS_OWNER = "business_owner"
    EXAMPLES = "examples"
    STALE_EXAMPLES = "stale_examples"
    REVIEW_PAST = "review_past"


@frozen
class Version:
    """One published version. `verdict` is what it broke of the version before it; empty for the first."""

    version: str
    state: Lifecycle
    digest: str
    verdict: str = ""


@frozen
class Published:
    """What the catalogue has of one tool: its newest spec, and its versions, oldest first.

    `open_unknown` are calls of which nobody knows at this moment whether they happened. `review_at_us` is when it was
    to be looked at again, `stale_examples` how many examples of it are out of date; None where nothing is on record.
    """

    spec: ToolSpec
    versions: tuple[Version, ...]
    open_unknown: int = 0
    review_at_us: int | None = None
    stale_examples: int | None = None

    @property
    def state(self) -> Lifecycle:
        """Where the newest version stands that takes calls; where none does, the newest."""
        takes = [each.state for each in self.versions if each.state not in CLOSED]
        return takes[-1] if takes else self.versions[-1].state


@frozen
class VersionReview:
    """The numbers of one version; `state` is None where the catalogue has it no more."""

    version: str
    state: Lifecycle | None
    published_at_us: int | None
    verdict: str
    numbers: Numbers


@frozen
class ToolReview:
    """All that is said of one tool. `state` is None for one that the catalogue does not have.

    Times of executions (`p50_ms`, `p95_ms`) and of people's decisions (`decided_p50_s`) are to within a tenth, None
    where there are none. `changes` counts its versions by what they did to the one before: `breaking`, `uncertain`,
    `compatible`.
    """

    name: str
    tenant: str
    source: str
    version: str
    state: Lifecycle | None
    effect: str
    risk: str
    owner: str
    business_owner: str
    timeout_ms: int
    published_at_us: int | None
    numbers: Numbers
    versions: tuple[VersionReview, ...]
    signs: Signs
    p50_ms: int | None
    p95_ms: int | None
    decided_p50_s: int | None
    decided_p95_s: int | None
    open_unknown: int
    changes: Mapping[str, int]
    gaps: tuple[Gap, ...]

    @property
    def is_open(self) -> bool:
        """Whether it takes calls, so that something may be proposed of it."""
        return self.state is not None and self.state not in CLOSED


@frozen
class Logged:
    """What the log has of one tool: numbers by version, what runs say of it, and when versions were published."""

    numbers: Mapping[str, Numbers] = field(default_factory=dict)
    signs: Signs = Signs()
    published: Mapping[str, int] = field(default_factory=dict)


def reviewed(name: str, published: Published | None, logged: Logged, *, at_us: int) -> ToolReview:
    """One tool: what the catalogue has of it, if it does, and what the log has."""
    spec = None if published is None else published.spec
    whole = summed(tuple(logged.numbers.values()))
    versions = tuple(_versions(published, logged))
    known = [each.published_at_us for each in versions if each.published_at_us is not None]
    return ToolReview(
        name=name,
        tenant="" if spec is None else spec.tenant,
        source="" if spec is None else spec.source,
        version="" if spec is None else spec.version,
        state=None if published is None else published.state,
        effect="" if spec is None else spec.effect.value,
        risk="" if spec is None else spec.risk.name.lower(),
        owner="" if spec is None else spec.owner,
        business_owner="" if spec is None else spec.business_owner,
        timeout_ms=0 if spec is None else spec.timeout_ms,
        published_at_us=min(known, default=None),
        numbers=whole,
        versions=versions,
        signs=logged.signs,
        p50_ms=quantile(whole.working, 0.5),
        p95_ms=quantile(whole.working, 0.95),
        decided_p50_s=quantile(whole.deciding, 0.5),
        decided_p95_s=quantile(whole.deciding, 0.95),
        open_unknown=0 if published is None else published.open_unknown,
        changes=_changes(published),
        gaps=() if published is None else tuple(_gaps(published, at_us)),
    )


def _versions(published: Published | None, logged: Logged) -> Iterable[VersionReview]:
    known = {} if published is None else {each.version: each for each in published.versions}
    for version in [*known, *(each for each in sorted(logged.numbers) if each not in known)]:
        found = known.get(version)
        state, verdict = (None, "") if found is None else (found.state, found.verdict)
        numbers, at_us = logged.numbers.get(version, Numbers()), logged.published.get(version)
        yield VersionReview(version, state, at_us, verdict, numbers)


def _changes(published: Published | None) -> Mapping[str, int]:
    found = {"breaking": 0, "uncertain": 0, "compatible": 0}
    for each in () if published is None else published.versions:
        if each.verdict in found:
            found[each.verdict] += 1
    return found


def _gaps(published: Published, at_us: int) -> Iterable[Gap]:
    spec = published.spec
    if not spec.owner:
        yield Gap.OWNER
    if not spec.business_owner and spec.effect is not Effect.READ:
        yield Gap.BUSINESS_OWNER
    if not spec.examples and published.stale_examples is None:
        yield Gap.EXAMPLES
    if published.stale_examples:
        yield Gap.STALE_EXAMPLES
    if published.review_at_us is not None and published.review_at_us < at_us:
        yield Gap.REVIEW_PAST
