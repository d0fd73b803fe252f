"""Holds what a read does against what is said of it: its effect, schema, errors, time, evidence and words.

A probe is an example that is called on the real tool, twice. What it finds is for people: it proposes, and decides
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from interlock.core.canonical import Json
from interlock.core.catalogue import Tool
from interlock.core.evidence import EvidenceKind
from interlock.core.example import ToolExample
from interlock.core.example_check import Came, differences
from interlock.core.frozen import frozen
from interlock.core.observation import Observation, Status
from interlock.core.refusals import Code

TAKEN_S: Final = 900
"""How long a probe is left to the process that took it on: none that lives takes so long, one that died never ends."""

HISTORY_MAX: Final = 50
"""How many results of one probe are kept, the newest."""

SHARE_MAX: Final = 0.5
"""How much of its timeout a tool may take before that is worth a word."""

EVERY_S: Final = 3_600
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_AT_MOST: Final = re.compile(r"\b(?:at most|no more than|up to|maximum of)\s+([1-9][0-9]{0,5})\b", re.IGNORECASE)


class ProbeRule(StrEnum):
    """What a probe looks at."""

    EXPECTED = "expected"
    WROTE = "wrote"
    MOVED = "moved"
    UNSTABLE = "unstable"
    OUTPUT = "output"
    ERROR = "error"
    SLOW = "slow"
    EVIDENCE = "evidence"
    CLAIM = "claim"
    NO_READ = "no read"
    REFUSED = "refused"


@frozen
class ProbeFinding:
    """One thing that a tool does otherwise than is said of it."""

    rule: ProbeRule
    says: str


@dataclass(frozen=True, slots=True)
class Probed:
    """What was seen: both calls and how long each took, the resource's version and the watched reads around them."""

    first: Observation
    second: Observation
    took_ms: tuple[int, int] = (0, 0)
    versions: tuple[str | None, str | None] = (None, None)
    watched: Mapping[str, tuple[bytes | None, bytes | None]] | None = None


@frozen
class ProbeRecord:
    """One result. `digest` is that of the version's spec."""

    at_us: int
    digest: str
    findings: tuple[ProbeFinding, ...] = ()
    took_ms: int = 0

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


@frozen
class ProbeHistory:
    """The results of one probe, oldest first. `begun_us` is when a process took it on that has no result yet."""

    tool: str
    name: str
    records: tuple[ProbeRecord, ...] = ()
    begun_us: int = 0

    def begun(self, now_us: int) -> ProbeHistory:
        """Taken on by somebody: for a while nobody else makes it."""
        return ProbeHistory(self.tool, self.name, self.records, now_us)

    def with_one(self, record: ProbeRecord) -> ProbeHistory:
        """With one more, the oldest dropped where there are too many."""
        return ProbeHistory(self.tool, self.name, (*self.records, record)[-HISTORY_MAX:])


def every_s(example: ToolExample) -> int | None:
    """How many seconds apart it is due; None: only when it is asked for."""
    return int(example.every[:-1]) * _UNITS[example.every[-1]] if example.every else None


def is_due(example: ToolExample, history: ProbeHistory | None, *, now_us: int) -> bool:
    """Whether its time has come."""
    seconds = every_s(example)
    if not example.probe or seconds is None:
        return False
    if history is None:
        return True
    if history.begun_us and now_us < history.begun_us + TAKEN_S * 1_000_000:
        return False
    return not history.records or history.records[-1].at_us + seconds * 1_000_000 <= now_us


def judged(example: ToolExample, tool: Tool, probed: Probed) -> tuple[ProbeFinding, ...]:
    """What the tool does otherwise than is said of it; empty where all holds."""
    return tuple(_findings(example, tool, probed))


def _findings(example: ToolExample, tool: Tool, probed: Probed) -> Iterator[ProbeFinding]:
    first = probed.first
    refused = next((each for each in (first, probed.second) if each.status is Status.REFUSED), None)
    if refused is not None and example.expected.status is not Status.REFUSED:
        code = "" if refused.error is None else refused.error.code.value
        yield ProbeFinding(
            ProbeRule.REFUSED, f"the probe may not call it ({code}): policy and limits have to let the principal probe"
        )
        return
    for each in differences(example, Came(first)):
        yield ProbeFinding(ProbeRule.EXPECTED, str(each))
    yield from _on_effect(probed)
    yield from _on_result(tool, first)
    yield from _on_time(tool, probed)
    yield from _on_claims(tool, first.data)


def _on_effect(probed: Probed) -> Iterator[ProbeFinding]:
    """A read changes nothing: not its resource, not what another read shows, and it says the same again."""
    before, after = probed.versions
    if before != after:
        says = f"it is declared a read, and its resource went from version {before or 'none'} to {after or 'none'}"
        yield ProbeFinding(ProbeRule.MOVED, says)
    for name, (earlier, later) in (probed.watched or {}).items():
        if earlier != later:
            yield ProbeFinding(ProbeRule.WROTE, f"it is declared a read, and {name} shows something else after it")
    first, second = probed.first, probed.second
    if first.status is Status.OK and (first.status, first.data_json) != (second.status, second.data_json):
        yield ProbeFinding(ProbeRule.UNSTABLE, "the same call gave something else a moment later")


def _on_result(tool: Tool, seen: Observation) -> Iterator[ProbeFinding]:
    spec, error = tool.spec, seen.error
    misfit = seen.status is Status.OK and tool.output is not None and not tool.output.is_valid(seen.data)
    if misfit or (error is not None and error.code is Code.OUTPUT_INVALID):
        yield ProbeFinding(ProbeRule.OUTPUT, "its result does not fit the schema that it declares")
    if error is not None and error.code is Code.TOOL_EXCEPTION:
        yield ProbeFinding(ProbeRule.ERROR, f"it failed outside its error contract: {error.message}")
    if seen.status is not Status.OK or seen.evidence is None:
        return
    if spec.evidence.quotable and not seen.evidence.sources:
        yield ProbeFinding(ProbeRule.EVIDENCE, "its results are said to be quotable, and this one names no source")
    if spec.evidence.kind is EvidenceKind.STATUS and seen.evidence.sources:
        yield ProbeFinding(ProbeRule.EVIDENCE, "its results are said to be status alone, and this one names sources")


def _on_time(tool: Tool, probed: Probed) -> Iterator[ProbeFinding]:
    timeout_ms, slowest_ms = tool.spec.timeout_ms, max(probed.took_ms)
    if slowest_ms > timeout_ms * SHARE_MAX:
        yield ProbeFinding(ProbeRule.SLOW, f"it took {slowest_ms} ms of its timeout of {timeout_ms} ms")


def _on_claims(tool: Tool, data: Json) -> Iterator[ProbeFinding]:
    """What a description counts can be counted, where the result is a list."""
    found = _AT_MOST.search(tool.spec.description)
    if found is not None and isinstance(data, list) and len(data) > int(found[1]):
        says = f"its description says {found[0]!r}, and it gave {len(data)} items"
        yield ProbeFinding(ProbeRule.CLAIM, says)
