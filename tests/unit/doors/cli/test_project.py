"""`interlock.toml`: what it says, and the sentence for whatever it does not know."""

import re
from pathlib import Path

import pytest

from interlock.core.budget import Limit, ScopeKind, Unit
from interlock.core.call import Principal
from interlock.core.errors import SettingsInvalid
from interlock.doors.cli.project import NamedModel, parse_project, read_project
from interlock.loop.agent import Agent
from interlock.loop.model import Price
from interlock.settings import FindsBy

ROOT = Path("/p")
OPERATOR = '[operator]\nid = "alice"\n'
WHOLE = """
[interlock]
store = "data/x.db"
tools = ["a.py", "b.c"]
policies = "rules"
environment = "production"
egress_allow = ["billing.internal", "10.1.0.0/16"]
[operator]
id = "alice"
tenant = "acme"
groups = ["operator"]
[[people]]
id = "bob"
groups = ["approver"]
[[limits]]
scope = "run"
unit = "calls"
amount = 10
"""


def test_a_whole_file_is_read_with_paths_below_its_folder() -> None:
    project = parse_project(WHOLE, root=ROOT)
    assert (project.store, project.policies, project.tools) == ("/p/data/x.db", Path("/p/rules"), ("a.py", "b.c"))
    assert project.operator == Principal("acme", "alice", groups=frozenset({"operator"}))
    assert project.person("bob") == Principal("acme", "bob", groups=frozenset({"approver"}))
    assert project.settings.limits.limits == (Limit(ScopeKind.RUN, Unit.CALLS, 10),)
    assert (project.settings.environment, project.settings.tenant) == ("production", "acme")
    assert project.settings.egress_allow == ("billing.internal", "10.1.0.0/16")


def test_what_is_not_said_has_a_default() -> None:
    project = parse_project(OPERATOR, root=ROOT)
    assert (project.store, project.policies, project.settings.environment) == (
        "/p/interlock.db",
        Path("/p/policies"),
        "development",
    )
    assert project.operator == Principal("default", "alice")
    assert not project.is_stored


def test_a_store_in_memory_is_no_path() -> None:
    project = parse_project(f'[interlock]\nstore = ":memory:"\n{OPERATOR}', root=ROOT)
    assert project.store == ":memory:"
    assert not project.is_stored


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[operatr]", "interlock.toml has no setting 'operatr'; did you mean 'operator'?"),
        ("[zzz]", "it knows interlock, operator, people, limits"),
        ('[interlock]\nstor = "x"', r"\[interlock\] has no setting 'stor'; did you mean 'store'\?"),
        (f'{OPERATOR}group = ["x"]', "did you mean 'groups'?"),
        ("[operator]", 'needs an id, such as id = "alice"'),
        ("[interlock]\nstore = 1", "store in .interlock. must be text"),
        ('[interlock]\ntools = "a.py"', "tools in .interlock. must be a list of texts"),
        ("[interlock]\ntools = [1]", "tools in .interlock. must be a list of texts"),
        ("interlock = 1", ".interlock. is a table"),
        (f"{OPERATOR}[interlock]\nkeep_days = -1", "keep_days in .interlock. is a number of days up to 36500"),
        (f"{OPERATOR}[people]\nid = 'b'", "write ..people.. with two brackets"),
        (f"{OPERATOR}[[people]]\nid = 'b'\n[[people]]\nid = 'b'", "two people have the id 'b'"),
        (f"{OPERATOR}[[people]]\nid = 'alice'", "two people have the id 'alice'"),
        (f"{OPERATOR}[[limits]]\nscope='run'\nunit='calls'", "needs an amount"),
        (f"{OPERATOR}[[limits]]\nscope='run'\nunit='calls'\namount=-1", "needs an amount of zero or more"),
        (
            f"{OPERATOR}[[limits]]\nscope='run'\nunit='calls'\namount=true",
            "amount in ..limits.. must be a whole number",
        ),
        (
            f"{OPERATOR}[[limits]]\nscope='run'\nunit='calls'\namount=1\nshared=1",
            "shared in ..limits.. must be true or false",
        ),
        (f"{OPERATOR}[[limits]]\nscope='run'\nunit='calls'\namount=1\nshared=true", "on one of tool, tag, vendor"),
        (
            f"{OPERATOR}[[limits]]\nscope='runs'\nunit='calls'\namount=1",
            "scope must be one of run, agent.* task, not 'runs'",
        ),
        (f"{OPERATOR}[[limits]]\nscope='run'\nunit='call'\namount=1", "unit must be one of rounds, calls.* not 'call'"),
        ("[", "is no TOML"),
    ],
)
def test_what_cannot_be_used_is_named(text: str, says: str) -> None:
    with pytest.raises(SettingsInvalid, match=says):
        parse_project(text, root=ROOT)


def test_a_stranger_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(SettingsInvalid, match="nobody called 'bub'; did you mean 'bob'"):
        parse_project(WHOLE, root=ROOT).person("bub")
    assert parse_project(WHOLE, root=ROOT).person("alice").id == "alice"


def test_the_file_is_found_in_a_folder_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "interlock.toml").write_text(OPERATOR)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert read_project(None).root == tmp_path
    assert read_project(tmp_path).root == tmp_path
    with pytest.raises(SettingsInvalid, match=r"there is no interlock.toml in .*b$"):
        read_project(below)


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsInvalid, match="cannot be read"):
        read_project(tmp_path)


RUNS = """
[interlock]
hand_off_owner = "planning"
finding_owner = "planning"
tools_max = 12
finds_by = "meaning"
[[models]]
name = "small"
model = "openai-chat:small@http://127.0.0.1:8080/v1"
tokens_max = 500
input_micros = 0
output_micros = 2
[[models]]
model = "openai:gpt-5-mini"
[[agents]]
name = "planner"
tools = []
hand_offs = ["reader"]
[[agents]]
name = "reader"
instructions = "Read."
description = "reads"
"""


def test_models_with_their_prices_and_agents_are_read() -> None:
    project = parse_project(RUNS + OPERATOR, root=ROOT)
    small, other = project.models
    assert small == NamedModel("small", "openai-chat:small@http://127.0.0.1:8080/v1", 500, Price(0, 2))
    assert other == NamedModel("openai:gpt-5-mini", "openai:gpt-5-mini")
    assert project.agents == (
        Agent("planner", tools=(), hand_offs=("reader",)),
        Agent("reader", "Read.", "reads", tools=None),
    )
    assert project.settings.hand_off_owner == "planning"
    settings = project.settings
    assert (settings.finding_owner, settings.tools_max, settings.finds_by) == ("planning", 12, FindsBy.MEANING)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('[[models]]\nname = "x"', "needs a model"),
        ("[interlock]\ntools_max = 0", "tools_max must be a whole number from 1"),
        ('[interlock]\nfinds_by = "luck"', "finds_by must be words, meaning, not"),
        ('[[models]]\nmodel = "x"\ninput_micros = 1', "both input_micros and output_micros"),
        ('[[models]]\nmodel = "x"\ntokens_max = 0', "tokens_max in [[models]] is a number from 1"),
        ('[[models]]\nmodel = "x"\n[[models]]\nmodel = "x"', "two of [[models]] have one name"),
        ('[[models]]\nmodle = "x"', "did you mean 'model'?"),
        ("[[agents]]", "an agent's name"),
        ('[[agents]]\nname = "x"\n[[agents]]\nname = "x"', "two of [[agents]] have one name"),
        ('[[agents]]\nname = "x"\ntools = "y"', "tools in [[agents]] must be a list of texts"),
    ],
)
def test_what_is_wrong_with_models_and_agents_is_said(said: str, words: str) -> None:
    with pytest.raises(SettingsInvalid, match=re.escape(words)):
        parse_project(f"{OPERATOR}{said}\n", root=ROOT)
