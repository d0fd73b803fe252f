"""Drawings in the documents are those of the code, and the table of limits names each of them with its default."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from interlock.loop.diagram import run_diagram
from interlock.loop.limits import DAY_S, RunLimits
from tests.tidy.drawings import ROOT, draw, drawn, stale_drawings

PAGE = ROOT / "docs" / "runs.md"
PLACE = "<!-- drawn by interlock.loop.diagram.run_diagram -->\n{body}<!-- end -->\n"


@pytest.mark.requirement("LOOP-1")
def test_the_page_on_runs_is_up_to_date() -> None:
    assert list(stale_drawings(PAGE, root=ROOT)) == []
    assert f"```mermaid\n{run_diagram()}\n```" in PAGE.read_text(encoding="utf-8")


def test_what_was_drawn_before_is_found_and_drawn_anew(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "a.md"
    page.parent.mkdir()
    page.write_text("Before.\n" + PLACE.format(body="old\n") + "After.\n")
    assert list(stale_drawings(page, root=tmp_path))
    assert (draw(tmp_path), draw(tmp_path)) == (1, 0)
    assert not list(stale_drawings(page, root=tmp_path))
    assert drawn(page.read_text()).startswith("Before.\n<!-- drawn by")


@pytest.mark.requirement("BUD-1")
def test_the_table_of_limits_names_each_with_its_default() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \| ([\w ]+) \| ", PAGE.read_text(encoding="utf-8"))
    told = {None: "none", 30.0 * DAY_S: "30 days"}
    defaults = RunLimits()
    wanted = [(each.name, getattr(defaults, each.name)) for each in fields(RunLimits)]
    assert rows == [(name, told.get(value if value != {} else None, str(value))) for name, value in wanted]
