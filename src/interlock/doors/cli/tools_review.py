"""`interlock tools review`: what each tool is worth by the log, what is missing, what is twice, what might be done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.audit import since_us_of
from interlock.doors.cli.faults import refusal
from interlock.doors.cli.shown import as_document, fields, moment, rows, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.review import Review
    from interlock.core.review_tool import ToolReview

app = typer.Typer()

SHOWN_MAX = 50
"""How many tools the terminal shows, those that were called most first."""


@verb(app, "review")
async def review(
    *,
    since: Annotated[str | None, typer.Option(help="A time such as 2026-11-30T08:00Z, or an age such as 30d.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Refuse to show any other tenant than this one.")] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page as well; no file is overwritten.")
    ] = None,
    language: Annotated[str, typer.Option(help="Of the page's headings: en or zh.")] = "en",
) -> Answer:
    """Count what every tool was called for and what came of it, and propose what to do. Changes nothing."""
    from interlock.core.decision import Deny
    from interlock.core.errors import NotWritten
    from interlock.doors.cli.review_page import page
    from interlock.doors.cli.review_words import Language
    from interlock.doors.cli.session import reading, working

    if language not in list(Language):
        raise typer.BadParameter(f"--language is one of {', '.join(Language)}")
    if html is not None and html.exists():
        raise NotWritten(f"{html} exists already, and nothing is overwritten: give another name, or move it away")
    async with reading() as session:
        with working("Reading the log"):
            found = await session.gate.catalogue.review(
                by=session.by, since_us=since_us_of(since), tenant=tenant, rules=session.project.review
            )
    if isinstance(found, Deny):
        return refusal(found)
    text = text_of(found)
    if html is not None:
        html.write_text(page(found, Language(language)), encoding="utf-8")
        text += f"\n\nThe page is in {visible(html)}."
    return Answer(as_document(found), text)


def text_of(found: Review) -> str:
    """A review for the terminal."""
    return "\n\n".join(filter(None, _parts(found)))


def _parts(found: Review) -> Iterator[str]:
    yield _head(found)
    tools = sorted(found.tools, key=lambda each: (-each.numbers.counts.proposals, each.name))
    header = ("Tool", "State", "Calls", "Well", "Refused", "Denied", "Asked", "Approved", "p50", "p95", "Last used",
              "Owner", "Lacks")  # fmt: skip
    yield rows(header, map(_row, tools[:SHOWN_MAX]), empty="There is no tool.")
    if len(tools) > SHOWN_MAX:
        yield f"And {len(tools) - SHOWN_MAX} more; --json and --html show them."
    yield from _gaps(found)
    if found.alike:
        pairs = [
            (each.one, each.other, f"{each.percent}%", each.instead, each.shared[:6])
            for each in found.alike[:SHOWN_MAX]
        ]
        yield "Alike:\n" + rows(("One", "Other", "Share", "Does for the other", "Such as"), pairs, empty="")
    proposed = [(each.kind.value, each.tool, each.reason, each.command) for each in found.proposals]
    yield "Proposals:\n" + rows(("What", "Tool", "Why", "Command"), proposed, empty="None.")


def _head(found: Review) -> str:
    counts = found.whole.counts
    return fields(
        [
            ("Tenant", found.tenant),
            ("Records", f"{found.records} from {moment(found.first_us)} to {moment(found.last_us)}"),
            ("Unknown", f"{found.unread} records could not be read" if found.unread else ""),
            ("Runs", f"{found.runs}, {found.runs_followed} of them followed step by step"),
            ("Proposals", counts.proposals),
            ("Went well", f"{counts.succeeded + counts.partial} of {counts.ended} that ended"),
            ("Refused", f"{counts.refused}, {found.whole.denials} of them by policy"),
            ("Cost", f"{(counts.cost_micros + found.model_cost_micros) / 1_000_000:.2f}"),
        ]
    )


def _row(tool: ToolReview) -> tuple[object, ...]:
    numbers, counts = tool.numbers, tool.numbers.counts
    well = counts.succeeded + counts.partial
    return (
        f"{tool.name} {tool.version}",
        "" if tool.state is None else tool.state.value,
        counts.proposals,
        f"{100 * well // counts.ended}%" if counts.ended else "",
        counts.refused,
        numbers.denials,
        counts.asked,
        counts.granted,
        "" if tool.p50_ms is None else f"{tool.p50_ms} ms",
        "" if tool.p95_ms is None else f"{tool.p95_ms} ms",
        (moment(numbers.last_used_us) or "never")[:10],
        tool.owner,
        [each.value for each in tool.gaps],
    )


def _gaps(found: Review) -> Iterator[str]:
    gaps = found.coverage
    invented = [(each.text, each.times, each.nearest) for each in gaps.invented]
    if invented:
        yield "Names that no tool has:\n" + rows(("Name", "Times", "Near"), invented, empty="")
    if gaps.unfound:
        unfound = [(each.text, each.times) for each in gaps.unfound]
        yield "Searches that found nothing:\n" + rows(("Search", "Times"), unfound, empty="")
    if gaps.detours:
        ways = [(" → ".join(each.tools), each.times, each.runs, each.again) for each in gaps.detours]
        yield "The same way again and again:\n" + rows(("Tools", "Times", "Runs", "Again in a run"), ways, empty="")
    if gaps.denied_again:
        denied = gaps.denied_again.items()
        yield "Refused by policy more than once in a run:\n" + rows(("Tool", "Runs"), denied, empty="")
