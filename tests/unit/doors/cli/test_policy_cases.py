"""Cases for policies: who asks, for what, and what must be answered."""

from pathlib import Path

import pytest

from interlock.core.call import Principal, PrincipalKind
from interlock.core.errors import SettingsInvalid
from interlock.core.policy import Answer
from interlock.doors.cli.policy_cases import read_cases
from interlock.doors.cli.project import Project, parse_project
from tests.unit.doors.cli.conftest import Cli


def project(folder: Path, text: str) -> Project:
    (folder / "policies" / "tests").mkdir(parents=True, exist_ok=True)
    (folder / "policies" / "tests" / "a.yaml").write_text(text)
    return parse_project('[operator]\nid = "alice"\ntenant = "acme"\n', root=folder)


def test_a_case_takes_somebody_of_the_project_or_somebody_made_up(tmp_path: Path) -> None:
    bot = "{id: bot, kind: agent, groups: [g]}"
    text = f"- {{tool: a, expect: allow}}\n- {{tool: b, expect: deny, principal: {bot}, arguments: {{n: 1}}}}"
    first, second = read_cases(project(tmp_path, text))
    assert (first.principal.id, first.arguments, first.expect) == ("alice", "{}", Answer.ALLOW)
    assert second.principal == Principal("acme", "bot", PrincipalKind.AGENT, frozenset({"g"}))
    assert (second.arguments, second.name) == ('{"n": 1}', "a.yaml, case 2")


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "write a list of cases"),
        ("a: b", "write a list of cases"),
        ("- 1", "case 1: a case has name, principal"),
        ("- {tol: a, expect: allow}", "case 1 has no field 'tol'; did you mean 'tool'"),
        ("- {expect: allow}", "it needs tool, as text"),
        ("- {tool: a}", "it needs expect, as text"),
        ("- {tool: a, expect: maybe}", "expect is allow, ask or deny"),
        ("- {tool: a, expect: allow, principal: bob}", "nobody called 'bob'"),
        ("- {tool: a, expect: allow, principal: 1}", "principal is an id, or id, groups, kind"),
        ("- {tool: a, expect: allow, principal: {kind: robot}}", "kind is human, agent, service"),
        ("- {tool: a, expect: allow, principal: {group: x}}", "did you mean 'groups'"),
        ("- [", "a.yaml cannot be read"),
        ("- !!python/object/apply:os.system [id]", "a.yaml cannot be read"),
        ("[]", "there is no case in"),
    ],
)
def test_a_case_that_cannot_be_read_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsInvalid, match=says):
        read_cases(project(tmp_path, text))


def test_a_call_that_cannot_be_proposed_is_denied(cli: Cli, project: Path) -> None:
    cases = project / "policies" / "tests" / "starter.yaml"
    cases.write_text("- {tool: nope, expect: deny}\n- {tool: read_note, arguments: {title: 1}, expect: deny}\n")
    outcomes = cli("policy", "test", "--json").document["cases"]
    assert [each["reason"].split(":")[0] for each in outcomes] == ["TOOL_NOT_FOUND", "TOOL_ARGUMENT_INVALID"]
