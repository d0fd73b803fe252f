"""Whether one version of a tool may take the place of another: schemas and behaviours compared, with reasons.

    schemas       `compatibility_schemas`: proved, shown by a witness, or uncertain
      proof       `compatibility_proof`, with a rule for each keyword (`_rules`, `_objects`, `_lists`) over `_facts`
      witness     `compatibility_witness`, of values made by `_values` and `_texts`
    behaviour     `compatibility_behaviour`, `compatibility_parameters`
    numbers       `compatibility_versions`

The verdict is the worst of all findings. A new version may promise more than it keeps in one way only: by its number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from interlock.core.compatibility_behaviour import behaviours
from interlock.core.compatibility_parameters import parameters, shown_schema
from interlock.core.compatibility_schemas import Direction, Finding, Verdict, compare_schemas, worst
from interlock.core.compatibility_side import members
from interlock.core.compatibility_versions import promises_compatible
from interlock.core.frozen import frozen
from interlock.core.tool import Document, ToolSpec, spec_digest

__all__ = ["Comparison", "Direction", "Finding", "Verdict", "compare", "compare_schemas", "told"]

TOLD_MAX: Final = 5
_ORDER: Final = (Verdict.BREAKING, Verdict.UNCERTAIN, Verdict.COMPATIBLE)


@frozen
class Comparison:
    """Two versions of a tool, and what changed between them, the worst first.

    `is_promised`: the new version's number says that it breaks nothing.
    """

    name: str
    old_version: str
    new_version: str
    old_digest: str
    new_digest: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    is_promised: bool

    @property
    def breaks_its_promise(self) -> bool:
        """Whether it breaks something under a number that says it does not."""
        return self.is_promised and self.verdict is Verdict.BREAKING


def compare(old: ToolSpec, new: ToolSpec) -> Comparison:
    """What a caller of the old version meets in the new one. Raises SchemaInvalid for a schema that is none."""
    found = sorted((*_schemas(old, new), *parameters(old, new), *behaviours(old, new)), key=_rank)
    findings = tuple(found)
    return Comparison(
        name=new.name,
        old_version=old.version,
        new_version=new.version,
        old_digest=spec_digest(old),
        new_digest=spec_digest(new),
        verdict=worst(findings),
        findings=findings,
        is_promised=promises_compatible(old.version, new.version),
    )


def told(comparison: Comparison) -> str:
    """The worst findings in one line, for a message."""
    held = [each for each in comparison.findings if each.verdict is comparison.verdict]
    said = [f"{each.part}{each.path}: {each.reason}{_shown(each)}" for each in held[:TOLD_MAX]]
    return " ".join([*said, *([f"And {len(held) - TOLD_MAX} more."] if len(held) > TOLD_MAX else [])])


def _shown(finding: Finding) -> str:
    if finding.witness is None:
        return ""
    text = finding.witness.text.decode()
    return f" (such as {text[:120]}{'...' if len(text) > 120 else ''})"


def _rank(finding: Finding) -> int:
    return _ORDER.index(finding.verdict)


def _schemas(old: ToolSpec, new: ToolSpec) -> Iterator[Finding]:
    before, after = shown_schema(old), shown_schema(new)
    found = compare_schemas(before, after, Direction.INPUT)
    yield from found
    if not found and before != after:
        yield Finding(
            "input", "", "text", Verdict.COMPATIBLE, "The input schema is written otherwise and takes the same."
        )
    if old.output_schema != new.output_schema:
        yield from _outputs(old.output_schema, new.output_schema)


def _outputs(old: Document | None, new: Document | None) -> Iterator[Finding]:
    before, after = ({} if each is None else each.value for each in (old, new))
    found = compare_schemas(
        before if isinstance(before, bool) else members(before),
        after if isinstance(after, bool) else members(after),
        Direction.OUTPUT,
    )
    yield from found
    if not found and old is not None and new is not None:
        yield Finding(
            "output", "", "text", Verdict.COMPATIBLE, "The output schema is written otherwise and gives the same."
        )
