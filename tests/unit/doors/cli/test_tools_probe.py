"""`interlock tools probe`: published probes on the real tools."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

PROBE = """
  - name: it can be asked
    tool: read_note
    kind: typical
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello}
    world: {answers: [{gives: null}]}
    expected: {status: ok}
    probe: true
    every: 1h

# What a user says"""
POLICY = '\n@id("probes") permit (principal in Group::"probe", action in Action::"read", resource);\n'


@pytest.mark.requirement("REG-14")
def test_a_published_probe_is_called_on_the_real_tool_and_what_it_finds_is_exit_code_1(cli: Cli, project: Path) -> None:
    assert "The store keeps no probe" in cli("tools", "probe").out
    file = project / "examples" / "notes.yaml"
    file.write_text(file.read_text().replace("\n# What a user says", PROBE, 1))
    assert cli("tools", "test", "--publish").code == 0
    ran = cli("tools", "probe", "--due", "--json")
    assert (ran.code, ran.document["probes"][0]["findings"][0]["rule"]) == (1, "refused")
    policies = project / "policies" / "starter.cedar"
    policies.write_text(policies.read_text() + POLICY)
    assert cli("policy", "save", "--yes").code == 0
    ran = cli("tools", "probe")
    assert (ran.code, "1 probe: 1 passed, 0 failed." in ran.out) == (0, True)
    assert "No probe is due." in cli("tools", "probe", "--due").out


def test_only_operators_probe(cli: Cli, project: Path) -> None:
    assert cli("tools", "probe", "--as", "second").code == 3
