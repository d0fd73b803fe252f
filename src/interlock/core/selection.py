"""Which words lead to which tool: cases for descriptions, what came of them, and which have to be tried again.

A description is tried with everything that is offered beside it: a model chooses among all of it. So what came of a
case holds for the words of every tool that was offered then, and a change of any of them makes the case due again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from interlock.core.canonical import canonical, sha256_hex
from interlock.core.example import plain
from interlock.core.frozen import frozen
from interlock.core.readiness import Tally

NO_TOOL: Final = ""
"""What is chosen where none of the tools fits."""


class CaseKind(StrEnum):
    """SELECTION: words that must lead to the tool, to another, or to none. RISK: words that must not lead to it."""

    SELECTION = "selection"
    RISK = "risk"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionCase:
    """What a user says, and where it has to lead.

    `chooses` is the tool that must be chosen (empty: none may be), `never` are tools that must not be. Of a RISK case
    `tool` itself must not be chosen, whatever else is. `why` says what it is about.
    """

    words: str
    tool: str
    kind: CaseKind = CaseKind.SELECTION
    chooses: str | None = None
    never: tuple[str, ...] = ()
    why: str = ""
    owner: str = ""

    @property
    def id(self) -> str:
        """SHA-256 (hex) over all that it says."""
        return sha256_hex(canonical(plain(self)))

    @property
    def forbidden(self) -> frozenset[str]:
        """The tools that must not be chosen."""
        return frozenset(self.never) | ({self.tool} if self.kind is CaseKind.RISK else frozenset())

    @property
    def wanted(self) -> str | None:
        """The tool that has to be chosen, `NO_TOOL` for none of them, None where any will do that is not forbidden."""
        if self.chooses is not None or self.kind is CaseKind.RISK:
            return self.chooses
        return None if self.never else self.tool


@frozen
class Choice:
    """What was chosen for one case by one chooser, among tools of these surfaces (name to digest of its words)."""

    case: str
    chooser: str
    agent: str
    chosen: str
    passed: bool
    offered: Mapping[str, str] = field(default_factory=dict)


@frozen
class Due:
    """A case that has to be tried for an agent, and why: tools whose words are new, gone or other than before."""

    case: SelectionCase
    agent: str
    because: tuple[str, ...]


def passes(case: SelectionCase, chosen: str) -> bool:
    """Whether this choice is right."""
    wanted = case.wanted
    return chosen not in case.forbidden and wanted in (None, chosen)


def due(
    cases: Iterable[SelectionCase],
    offers: Mapping[str, Mapping[str, str]],
    made: Iterable[Choice],
    *,
    chooser: str,
) -> tuple[Due, ...]:
    """The cases to be tried with this chooser: all of every agent that is offered the case's tool (`offers`: by agent
    the digest of each tool's words), but those that were tried among the very same words.
    """
    last = {(each.case, each.agent): each for each in made if each.chooser == chooser}
    return tuple(_due(tuple(cases), offers, last))


def tallied(
    cases: Iterable[SelectionCase],
    offers: Mapping[str, Mapping[str, str]],
    made: Iterable[Choice],
    *,
    chooser: str,
) -> Mapping[tuple[str, CaseKind], Tally]:
    """Of each tool and kind of case: how many passed, failed, and are due. A case counts once for each agent."""
    known, all_ = tuple(made), tuple(cases)
    last = {(each.case, each.agent): each for each in known if each.chooser == chooser}
    waiting = {(each.case.id, each.agent) for each in due(all_, offers, known, chooser=chooser)}
    found: dict[tuple[str, CaseKind], Tally] = {}
    for case, agent in _placed(all_, offers):
        place, before = (case.id, agent), found.get((case.tool, case.kind), Tally())
        is_due = place in waiting
        passed = not is_due and last[place].passed
        found[case.tool, case.kind] = Tally(
            before.passed + passed, before.failed + (not passed and not is_due), before.due + is_due
        )
    return found


@frozen
class Confusion:
    """So often one tool was chosen where another was wanted; empty names: none."""

    wanted: str
    chosen: str
    count: int


def confusions(cases: Iterable[SelectionCase], made: Iterable[Choice]) -> tuple[Confusion, ...]:
    """Where choices went wrong, the most frequent first: which tool was taken instead of which."""
    known = {case.id: case for case in cases}
    counts: dict[tuple[str, str], int] = {}
    for each in made:
        case = known.get(each.case)
        if case is not None and not each.passed:
            wanted = NO_TOOL if case.wanted is None else case.wanted
            counts[wanted, each.chosen] = counts.get((wanted, each.chosen), 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Confusion(wanted, chosen, count) for (wanted, chosen), count in ordered)


def _placed(
    cases: Iterable[SelectionCase], offers: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[SelectionCase, str]]:
    for case in cases:
        for agent, offered in sorted(offers.items()):
            if case.tool in offered:
                yield case, agent


def _due(
    cases: tuple[SelectionCase, ...],
    offers: Mapping[str, Mapping[str, str]],
    last: Mapping[tuple[str, str], Choice],
) -> Iterator[Due]:
    for case, agent in _placed(cases, offers):
        before = last.get((case.id, agent))
        known = {} if before is None else before.offered
        now = offers[agent]
        changed = sorted(name for name in {*known, *now} if known.get(name) != now.get(name))
        if changed or before is None:
            yield Due(case, agent, tuple(changed))
