"""Results of examples as a JUnit report: the XML that build servers read."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from interlock.core.example_results import Passing, Rehearsed
from interlock.core.text import clean

_NOT_RUN = frozenset({Passing.STALE, Passing.UNREVIEWED})


def report_of(results: Sequence[Rehearsed]) -> str:
    """One suite, a case for each example; what did not run is skipped, with the reason."""
    wrong = sum(each.is_wrong for each in results)
    skipped = sum(each.passing in _NOT_RUN for each in results)
    head = f'<testsuite name="interlock tools test" tests="{len(results)}" failures="{wrong}" skipped="{skipped}">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', head, *map(_case, results), "</testsuite>"]
    return "\n".join(lines) + "\n"


def _case(result: Rehearsed) -> str:
    example = result.example
    name = quoteattr(_plain(f"{example.kind.value}: {example.name}"))
    head = f"  <testcase classname={quoteattr(_plain(example.tool))} name={name}"
    if result.passing is Passing.PASSED:
        return f"{head}/>"
    says = quoteattr(_plain(result.why or result.passing.value))
    if not result.is_wrong:
        return f"{head}><skipped message={says}/></testcase>"
    body = escape(_plain("\n".join(map(str, result.differences))))
    return f"{head}><failure message={says}>{body}</failure></testcase>"


def _plain(text: str) -> str:
    """Without what XML cannot hold."""
    return clean(text).text
