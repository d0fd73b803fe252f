"""A difference is shown where it is, however long the texts are around it."""

import pytest

from interlock.doors.cli.imports_mcp_shown import lines_of, seen_of
from interlock.importers.mcp_sync import mcp_changes
from tests.mcp_snapshots import entry, taken

pytestmark = pytest.mark.requirement("REG-9")


def test_every_kind_of_change_has_a_line_and_a_place_in_the_document() -> None:
    seen = mcp_changes(
        taken(entry("a"), entry("gone")), taken(entry("a", title="T\u202e"), entry("gone_v2"), 7, version="2")
    )
    lines = lines_of(seen)
    assert lines[0] == "server   version: 1 -> 2"
    assert "    title: nothing -> T⟨U+202E⟩ ⟨1 hidden characters⟩" in lines
    assert "new      gone_v2 (likely gone, renamed)" in lines
    assert "not tool entry 2: nothing -> it is no object" in lines
    document = seen_of(seen).document
    assert (document["new"], document["gone"]) == (["gone_v2"], ["gone"])
    assert {name for name, each in document.items() if each} == {
        "about",
        "new",
        "gone",
        "changed",
        "not_tools",
        "drifted",
        "renamed",
    }
