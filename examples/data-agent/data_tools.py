"""The tools of the three agents: two ways to the same rows, a guess, a report, and its publication.

`tenant_id` is injected from who is asking, in each of them: the model neither sees nor supplies it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from reports import NothingToReport, Report, Shelf
from safe_sql import SqlRefused, query

from interlock import (
    Arg,
    Confidentiality,
    Context,
    Declaration,
    ErrorContract,
    EvidenceKind,
    EvidenceRule,
    Gate,
    Labels,
    Resource,
    Result,
    Risk,
    Source,
    ToolFault,
    Trust,
    tool,
)

OWNER: Final = "data"
Tenant = Annotated[str, Arg(inject="tenant", max_length=41)]
Sql = Annotated[
    str, Arg(max_length=2_000, description="One SELECT over sales(day, region, product, units, amount_cents).")
]
Question = Literal["region", "product", "day"]
ReportId = Annotated[str, Arg(pattern="^[a-z][a-z0-9-]{1,20}$", max_length=21)]
Words = Annotated[str, Arg(max_length=400, description="What the figures say, in a sentence or two.")]

HOUSE: Final = Labels(Confidentiality.INTERNAL, Trust.UNTRUSTED, frozenset({"sales"}))
MEASURED: Final = EvidenceRule(EvidenceKind.AUTHORITATIVE, quotable=True, reportable=True, scope="sales")
GUESSED: Final = EvidenceRule(EvidenceKind.CANDIDATE, reportable=True, scope="sales")
REFUSED: Final = ErrorContract("SQL_REFUSED", nothing_happened=True, description="The statement may not run.")
EMPTY: Final = ErrorContract("NOTHING_TO_REPORT", nothing_happened=True, description="There is nothing to report yet.")
MISSING: Final = ErrorContract("NO_SUCH_REPORT", nothing_happened=True, description="There is no such report.")


@dataclass(slots=True)
class Desk:
    """The open gate, whose runs the report is made from: it is there only once its tools are."""

    gate: Gate | None = None


def read_tools(database: Path) -> tuple[Declaration, ...]:
    """What reads the sales of a tenant."""

    @tool(effect="read", owner=OWNER, evidence=MEASURED, labels=HOUSE, errors=[REFUSED])
    def query_sales(sql: Sql, tenant_id: Tenant) -> Result:
        """Run one SELECT over the sales."""
        return _measured(database, sql, tenant_id)

    @tool(effect="read", owner=OWNER, evidence=MEASURED, labels=HOUSE, errors=[REFUSED])
    def sum_sales(by: Question, tenant_id: Tenant) -> Result:
        """Sum the sales."""
        sql = f"SELECT {by}, SUM(units) AS units FROM sales GROUP BY {by} ORDER BY {by}"  # noqa: S608 - one of three
        return _measured(database, sql, tenant_id)

    @tool(effect="read", owner=OWNER, evidence=GUESSED, labels=HOUSE, errors=[REFUSED])
    def forecast_sales(tenant_id: Tenant) -> Result:
        """Guess the units of the next month, by the mean of those before."""
        sql = "SELECT ROUND(SUM(units) * 1.0 / COUNT(DISTINCT day)) AS units_next_month FROM sales"
        return _measured(database, sql, tenant_id)

    return query_sales, sum_sales, forecast_sales


def report_tools(root: Path, desk: Desk) -> tuple[Declaration, ...]:
    """What writes and publishes reports below `root`."""
    return _writing(root, desk), *_publishing(root)


def _writing(root: Path, desk: Desk) -> Declaration:
    @tool(
        effect="idempotent_write",
        owner=OWNER,
        key=["report_id"],
        resource=("Report", "{tenant_id}/{report_id}"),
        labels=HOUSE,
        errors=[EMPTY],
    )
    async def write_report(report_id: ReportId, tenant_id: Tenant, context: Context, words: Words = "") -> Report:
        """Write a report of all that was found out so far."""
        if desk.gate is None or context.run is None:
            raise ToolFault(EMPTY.code, "A report is made of a run.")
        observed = await desk.gate.runs.observations(context.run, by=context.principal)
        try:
            return Shelf(root, tenant_id).write(report_id, context.run, observed=observed, words=words)
        except NothingToReport as nothing:
            raise ToolFault(EMPTY.code, str(nothing)) from nothing

    return write_report


def _publishing(root: Path) -> tuple[Declaration, ...]:
    def report_now(report_id: str, tenant_id: str) -> Resource:
        """The report as it is: an approval of its publication holds for these bytes and no others."""
        return Resource("Report", f"{tenant_id}/{report_id}", version=Shelf(root, tenant_id).digest(report_id) or None)

    def is_there(report_id: str, tenant_id: str) -> str | None:
        there = Shelf(root, tenant_id).digest(report_id)
        return None if there else f"There is no report {report_id} to be published."

    def find_published(report_id: str, tenant_id: str) -> str | None:
        """Whether exactly this report is published: asked when the program died before it could say so."""
        shelf = Shelf(root, tenant_id)
        found = shelf.digest(report_id, published=True)
        return str(shelf.path(report_id, published=True)) if found and found == shelf.digest(report_id) else None

    @tool(
        effect="write",
        owner=OWNER,
        risk=Risk.MEDIUM,
        key=["report_id"],
        resource=("Report", "{tenant_id}/{report_id}"),
        resolve=report_now,
        precondition=is_there,
        reconcile=find_published,
        labels=HOUSE,
        errors=[MISSING],
        summary="Publish the report {report_id} of {tenant_id}, with its lineage",
        promises={"ok": "The report is published.", "waiting": "It is not published: somebody has to approve it."},
    )
    def publish_report(report_id: ReportId, tenant_id: Tenant) -> str:
        """Publish a report that was written."""
        shelf = Shelf(root, tenant_id)
        if not shelf.digest(report_id):
            raise ToolFault(MISSING.code, f"There is no report {report_id}.")
        return str(shelf.publish(report_id))

    @tool(effect="read", owner=OWNER, labels=HOUSE)
    def is_published(report_id: ReportId, tenant_id: Tenant) -> bool:
        """Whether a report is published."""
        return bool(Shelf(root, tenant_id).digest(report_id, published=True))

    return publish_report, is_published


def _measured(database: Path, sql: str, tenant_id: str) -> Result:
    try:
        found = query(database, sql, tenant_id=tenant_id)
    except SqlRefused as refused:
        raise ToolFault(REFUSED.code, str(refused)) from refused
    shown = {"sql": sql, **{name: asdict(found)[name] for name in ("columns", "rows", "more")}}
    source = Source(f"sqlite:{database.name}/sales", sql)
    return Result(shown, sources=(source,), data_time_us=found.loaded_us, data_version=found.version)
