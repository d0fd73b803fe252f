"""`interlock tools probe`: calls published probes on the real tools, and says what they do otherwise than is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.faults import refusal
from interlock.doors.cli.shown import counted, rows, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.core.canonical import Json
    from interlock.runtime.probes import ProbeResult

app = typer.Typer()


@verb(app, "probe")
async def probe(
    tools: Annotated[
        list[str] | None, typer.Argument(metavar="[TOOL]...", help="Of these tools; default: all.")
    ] = None,
    *,
    due: Annotated[bool, typer.Option("--due", help="Only those whose time has come.")] = False,
) -> Answer:
    """Call the published probes on the real tools, reads alone, as the principal probe.

    Exit code 1 where one finds something. Nothing is closed: a tool may be marked degraded, and more is proposed.
    """
    from interlock.doors.cli.session import not_operator, opened

    async with opened() as session:
        deny = not_operator(session.by, "Probing")
        if deny is not None:
            return refusal(deny)
        desk = session.gate.probes
        found = await desk.run_due() if due else await desk.run(tools or (), by=session.by)
    return _answer(found, due=due)


def _answer(found: Sequence[ProbeResult], *, due: bool) -> Answer:
    document: list[Json] = [
        {
            "tool": each.example.tool,
            "probe": each.example.name,
            "passed": each.record.passed,
            "findings": [{"rule": one.rule.value, "says": one.says} for one in each.record.findings],
            "took_ms": each.record.took_ms,
            "degraded": each.degraded,
            "proposes": each.proposes,
        }
        for each in found
    ]
    values = [
        (
            each.example.tool,
            each.example.name,
            "passed" if each.record.passed else "failed",
            each.record.took_ms,
            "\n".join(f"{one.rule.value}: {one.says}" for one in each.record.findings),
        )
        for each in found
    ]
    none = "No probe is due." if due else "The store keeps no probe: mark an example with probe: true, and publish it."
    text = rows(("Tool", "Probe", "Stands", "Took ms", "Found"), values, empty=none)
    wrong = [each for each in found if not each.record.passed]
    proposed = sorted({each.proposes for each in wrong if each.proposes})
    lines = [text, *(f"Proposed: {visible(each)}." for each in proposed)]
    if found:
        lines.append(f"{counted(len(found), 'probe')}: {len(found) - len(wrong)} passed, {len(wrong)} failed.")
    return Answer({"probes": document}, "\n".join(lines), PROBLEM if wrong else DONE)
