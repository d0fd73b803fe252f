"""Makes a report of what a run has observed, keeps it with its lineage beside it, and publishes it once.

What the report shows are the results themselves, each under what it is worth: what is no fact says so in front. Words
of the model stand apart, as the model's. The same observations always make the same report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from interlock import Lineage, Observation, Standing, Status, Traced, lineage_of

NOTHING = "No query has given a result that a report could be made of."


class NothingToReport(Exception):
    """The run has observed nothing that a report could be made of."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report on disk: its text by digest, and its lineage in a file of its own."""

    report_id: str
    file: str
    lineage: str
    sha256: str
    facts: int
    not_established: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where one tenant's reports are. No tenant has the path of another's."""

    root: Path
    tenant_id: str

    def path(self, report_id: str, *, published: bool = False) -> Path:
        """The report's file, or the one that is published."""
        folder = self.root / self.tenant_id / ("published" if published else "reports")
        return folder / f"{report_id}.md"

    def write(self, report_id: str, run: str, *, observed: tuple[Observation, ...], words: str) -> Report:
        """Write the report and its lineage. Raises `NothingToReport`."""
        lineage = lineage_of(run, observed)
        results = [*_results(lineage, observed)]
        if not results:
            raise NothingToReport(NOTHING)
        text = _composed(report_id, lineage, results=results, words=words)
        path = self.path(report_id)
        _write(path, text)
        _write(_lineage_of(path), json.dumps(lineage.to_json(), indent=2) + "\n")
        facts = sum(each.standing is Standing.FACT for each, _ in results)
        digest = sha256(text.encode()).hexdigest()
        return Report(report_id, str(path), str(_lineage_of(path)), digest, facts, len(results) - facts)

    def digest(self, report_id: str, *, published: bool = False) -> str:
        """The SHA-256 of a report with its lineage; empty where there is none."""
        path = self.path(report_id, published=published)
        if not path.exists() or not _lineage_of(path).exists():
            return ""
        return sha256(path.read_bytes() + _lineage_of(path).read_bytes()).hexdigest()

    def publish(self, report_id: str) -> Path:
        """Put a report and its lineage where readers look."""
        path, place = self.path(report_id), self.path(report_id, published=True)
        _write(_lineage_of(place), _lineage_of(path).read_text(encoding="utf-8"))
        _write(place, path.read_text(encoding="utf-8"))
        with (place.parent / "publications.log").open("a", encoding="utf-8") as log:
            log.write(f"{report_id}\n")
        return place


def _results(lineage: Lineage, observed: tuple[Observation, ...]) -> Iterator[tuple[Traced, dict[str, object]]]:
    """The tables that the run was shown, with what each is worth."""
    data = {each.call_id: each.data for each in observed if each.status is Status.OK}
    for each in lineage.traced:
        found = data.get(each.call_id)
        if isinstance(found, dict) and isinstance(found.get("rows"), list):
            yield each, {**found}


def _composed(report_id: str, lineage: Lineage, *, results: list[tuple[Traced, dict[str, object]]], words: str) -> str:
    parts = [f"# Report {report_id}"]
    for heading, is_fact in (("Figures", True), ("Not established", False)):
        tables = [_table(each, found) for each, found in results if (each.standing is Standing.FACT) is is_fact]
        if tables:
            parts += [f"## {heading}", *tables]
    if words:
        parts += ["## In the model's words", "[a model wrote this; no source supports it] " + " ".join(words.split())]
    parts += ["## What it was made from", "\n".join(_line(each) for each in lineage.traced)]
    return "\n\n".join(parts) + "\n"


def _table(each: Traced, found: dict[str, object]) -> str:
    columns, rows = found.get("columns"), found.get("rows")
    lines = [each.presented(f"{each.tool}: `{found.get('sql', '')}`"), ""]
    header = [str(name) for name in columns] if isinstance(columns, list) else []
    lines += [_row(header), _row(["---"] * len(header))]
    lines += (
        [_row([str(value) for value in row]) for row in rows if isinstance(row, list)] if isinstance(rows, list) else []
    )
    return "\n".join([*lines, *(["", "There were more rows."] if found.get("more") else [])])


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(each.replace("|", "\\|").replace("\n", " ") for each in cells) + " |"


def _line(each: Traced) -> str:
    """One observation, down to its record in the audit log."""
    parts = [f"- {each.call_id} {each.tool} {each.version}: {each.status.value}, {each.standing.value}"]
    parts += [f"source {source.uri}" for source in each.sources]
    parts += [f"data of {each.data_time_us} ({each.data_version})"] if each.data_time_us else []
    parts += [f"operation {each.operation_id}"] if each.operation_id else []
    parts += [f"record {each.receipt.chain}:{each.receipt.sequence}"] if each.receipt else []
    return ", ".join(parts)


def _lineage_of(path: Path) -> Path:
    return path.with_suffix(".lineage.json")


def _write(path: Path, text: str) -> None:
    """All of it or nothing: a reader never finds half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(path.suffix + ".new")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
