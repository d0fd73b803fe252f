"""How two versions of a tool are told apart on the command line, and as a document for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.doors.cli.shown import counted, rows, visible

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.compatibility import Comparison, Finding

MAJOR = 'Give it a new major version, such as @tool(version="2.0.0", ...), or take back what breaks.'

_WITNESS_CHARS_MAX = 160


def document_of(comparison: Comparison) -> dict[str, Json]:
    """A comparison for programs: both versions, the verdict, and each finding with its witness as a value."""
    return {
        "name": comparison.name,
        "from": {"version": comparison.old_version, "digest": comparison.old_digest},
        "to": {"version": comparison.new_version, "digest": comparison.new_digest},
        "verdict": comparison.verdict.value,
        "promised": comparison.is_promised,
        "findings": [finding_document(each) for each in comparison.findings],
    }


def text_of(comparison: Comparison) -> str:
    """The same for people."""
    header = ("Verdict", "Where", "What", "Why", "Such as")
    values = [
        (each.verdict.value, f"{each.part}{each.path}", each.kind, each.reason, witness_of(each))
        for each in comparison.findings
    ]
    return f"{line_of(comparison)}\n{rows(header, values, empty='Nothing differs.')}"


def line_of(comparison: Comparison) -> str:
    """The verdict in a sentence."""
    versions = f"{comparison.name} {comparison.new_version} after {comparison.old_version}"
    many = counted(len(comparison.findings), "finding")
    broken = "; its number promises that it is compatible" if comparison.breaks_its_promise else ""
    return visible(f"{versions}: {comparison.verdict.value}, {many}{broken}.")


def graver_of(comparison: Comparison) -> list[str]:
    """Its findings that are not proved compatible, one a line, made visible already."""
    found = []
    for each in comparison.findings:
        if each.verdict.value != "compatible":
            such_as = f" Such as {witness_of(each)}" if each.witness is not None else ""
            found.append(visible(f"{each.verdict.value}: {each.part}{each.path}: {each.reason}{such_as}"))
    return found


def witness_of(finding: Finding) -> str:
    """The value that shows a difference, as much of it as fits a line."""
    text = "" if finding.witness is None else finding.witness.text.decode()
    return text if len(text) <= _WITNESS_CHARS_MAX else f"{text[: _WITNESS_CHARS_MAX - 3]}..."


def finding_document(finding: Finding) -> dict[str, Json]:
    """One difference for programs, its witness as a value."""
    found: dict[str, Json] = {
        "part": finding.part,
        "path": finding.path,
        "class": finding.kind,
        "verdict": finding.verdict.value,
        "reason": finding.reason,
    }
    return found if finding.witness is None else {**found, "witness": finding.witness.value}
