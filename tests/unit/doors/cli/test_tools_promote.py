"""`interlock tools promote` says until when one act goes back."""

from pathlib import Path

from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.test_agents import READ, versions

__all__ = ["versions"]


def test_the_way_back_is_told_with_its_end(cli: Cli, versions: Path) -> None:
    text = cli("tools", "promote", READ, "1", "--window-days", "2").out
    assert f"{READ} means version 1 from now on. `interlock tools rollback {READ}` goes back to 2 until " in text
    assert (
        cli("tools", "promote", READ, "2", "--window-days", "-1", "--json").document["error"]["code"] == "SPEC_INVALID"
    )
