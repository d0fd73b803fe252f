"""A review of the tools of one tenant: what each is worth, what is missing, what is twice, and what might be done.

    records of the log   `review_tally` (`_read` one record, `_counts` numbers, `_runs` steps of runs, `_sample`)
    the catalogue        `review_tool`, `review_likeness`
    proposals            `review_proposals`, by the thresholds of `review_rules`

It changes nothing, and nothing acts on it by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from interlock.core.catalogue import nearest
from interlock.core.frozen import frozen
from interlock.core.review_counts import Numbers, summed
from interlock.core.review_likeness import Likeness, alike
from interlock.core.review_proposals import Known, Proposal, proposals
from interlock.core.review_read import UNKNOWN
from interlock.core.review_rules import ReviewRules
from interlock.core.review_runs import Detour, Signs
from interlock.core.review_tally import Tallies, Wanted
from interlock.core.review_tool import Logged, Published, ToolReview, reviewed

WANTED_MAX: Final = 50
"""How many names and searches are told."""

NEAREST_MAX: Final = 3


@frozen
class Coverage:
    """What was wanted and is not there. `names` and `searches` count all, `invented` and `unfound` tell the most."""

    invented: tuple[Wanted, ...]
    names: int
    unfound: tuple[Wanted, ...]
    searches: int
    detours: tuple[Detour, ...]
    denied_again: Mapping[str, int]


@frozen
class Review:
    """A review as it is shown and sent. Times are in microseconds since 1970 UTC.

    `first_us` and `last_us` are those of the records that were read, `unread` how many of them could not be, `unplaced`
    how many do not say of which tool they are. Of about `runs` runs and tasks `runs_followed` were followed step by
    step; what `signs` and detours say is said of these. `whole` sums up all tools, and proposals of no tool.
    """

    tenant: str
    at_us: int
    since_us: int | None
    first_us: int | None
    last_us: int | None
    records: int
    unread: int
    unplaced: int
    runs: int
    runs_followed: int
    people: Mapping[str, int]
    model_tokens: int
    model_cost_micros: int
    whole: Numbers
    tools: tuple[ToolReview, ...]
    coverage: Coverage
    alike: tuple[Likeness, ...]
    proposals: tuple[Proposal, ...]
    rules: ReviewRules


@frozen
class Frame:
    """Whose review it is, of when, since when, and by which rules."""

    tenant: str
    at_us: int
    since_us: int | None
    rules: ReviewRules


def review(tallies: Tallies, catalogue: Mapping[str, Published], frame: Frame) -> Review:
    """What the log and the catalogue come to. `catalogue` is by name, as the tenant sees it."""
    logged = _logged(tallies, catalogue)
    tools = tuple(reviewed(name, catalogue.get(name), logged[name], at_us=frame.at_us) for name in sorted(logged))
    pairs = alike([catalogue[each.name].spec for each in tools if each.is_open], percent=frame.rules.alike_percent)
    since_us = frame.since_us if frame.since_us is not None else tallies.first_us
    return Review(
        tenant=frame.tenant,
        at_us=frame.at_us,
        since_us=frame.since_us,
        first_us=tallies.first_us,
        last_us=tallies.last_us,
        records=tallies.records,
        unread=tallies.unread,
        unplaced=tallies.unplaced,
        runs=tallies.runs,
        runs_followed=tallies.runs_followed,
        people=tallies.people,
        model_tokens=tallies.model_tokens,
        model_cost_micros=tallies.model_cost_micros,
        whole=summed(tuple(tallies.tools.values())),
        tools=tools,
        coverage=_coverage(tallies, [each.name for each in tools if each.is_open]),
        alike=pairs,
        proposals=proposals(tools, pairs, Known(frame.rules, frame.at_us, since_us)),
        rules=frame.rules,
    )


def _logged(tallies: Tallies, names: Iterable[str]) -> Mapping[str, Logged]:
    """What the log has of each tool, also of those that it does not have, by name."""
    numbers: dict[str, dict[str, Numbers]] = {name: {} for name in names}
    for (name, version), counted in tallies.tools.items():
        if (name, version) != UNKNOWN:
            numbers.setdefault(name, {})[version] = counted
    published: dict[str, dict[str, int]] = {}
    for (name, version), at_us in tallies.published.items():
        published.setdefault(name, {})[version] = at_us
    signs = tallies.signs
    return {name: Logged(numbers[name], signs.get(name, Signs()), published.get(name, {})) for name in numbers}


def _coverage(tallies: Tallies, names: Iterable[str]) -> Coverage:
    names = [*names]
    since = [each for each in tallies.invented if each.text in names]
    lacking = [each for each in tallies.invented if each.text not in names]
    return Coverage(
        invented=tuple(_with_nearest(each, names) for each in lacking[:WANTED_MAX]),
        names=tallies.names - sum(each.times for each in since),
        unfound=tallies.unfound[:WANTED_MAX],
        searches=tallies.searches,
        detours=tallies.detours,
        denied_again={name: each.denied_again for name, each in tallies.signs.items() if each.denied_again},
    )


def _with_nearest(wanted: Wanted, names: Iterable[str]) -> Wanted:
    return Wanted(wanted.text, wanted.times, wanted.last_us, nearest(wanted.text, names)[:NEAREST_MAX])
