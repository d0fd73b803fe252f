"""Grades how a tool that somebody else publishes has drifted from the version that was reviewed.

The grades are built from the findings of `compatibility`, and say what a reviewer has to look at. A tool has one grade,
the gravest that it has earned, in the order of `Grade`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from interlock.core.compatibility import Finding, Verdict, compare
from interlock.core.frozen import frozen
from interlock.core.tool import ToolSpec


class Grade(IntEnum):
    """How a tool has drifted, the gravest last.

    TEXT: words only, which a model reads all the same. WIDENED: it takes or promises more, such as a member that it did
    not name, and no call that keeps to what was named breaks.
    NEW: it was not there. NARROWED: calls or results that were in order are not, or may not be. WEAKENED: what it says
    of the harm that it does is another thing, or it asks for less leave. COLLAPSED: what it named, or all that it said
    of that, is gone, and it takes whatever comes.
    GONE: it is not there any more.
    """

    SAME = 0
    TEXT = 1
    WIDENED = 2
    NEW = 3
    NARROWED = 4
    WEAKENED = 5
    COLLAPSED = 6
    GONE = 7


@frozen
class Drift:
    """The grade of one tool, and the findings that it was given for."""

    name: str
    grade: Grade
    findings: tuple[Finding, ...] = ()

    @property
    def grades(self) -> frozenset[Grade]:
        """All that it has earned: behind the gravest others may stand that nobody lets pass."""
        return frozenset({self.grade, *map(_grade, self.findings)})


_WORDS: Final = frozenset({"text", "handler"})


def drift(reviewed: ToolSpec | None, today: ToolSpec | None) -> Drift:
    """How a tool has drifted; None stands for one that is not listed. Raises SchemaInvalid where a schema is none."""
    if reviewed is None or today is None:
        name = today.name if today is not None else reviewed.name if reviewed is not None else ""
        grade = Grade.NEW if today is not None else Grade.GONE if reviewed is not None else Grade.SAME
        return Drift(name, grade)
    comparison = compare(reviewed, today)
    return graded(comparison.name, comparison.findings)


def graded(name: str, findings: tuple[Finding, ...]) -> Drift:
    """The gravest grade that findings have earned, and those that it was given for before all others."""
    grade = max(map(_grade, findings), default=Grade.SAME)
    return Drift(name, grade, tuple(sorted(findings, key=lambda each: _grade(each) is not grade)))


def _grade(finding: Finding) -> Grade:
    if finding.kind == "collapsed":
        return Grade.COLLAPSED
    if finding.kind.endswith("-weakened"):
        return Grade.WEAKENED
    if finding.kind in _WORDS:
        return Grade.TEXT
    is_wider = finding.verdict is Verdict.COMPATIBLE or finding.kind.startswith("undeclared-")
    return Grade.WIDENED if is_wider else Grade.NARROWED
