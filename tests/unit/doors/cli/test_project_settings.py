"""Every setting has a key in `interlock.toml`, which is documented, or a reason why it has none."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pytest

from interlock import Host, Principal, Settings
from interlock.core.errors import SettingsInvalid
from interlock.core.recovery import LookUpRule
from interlock.doors.cli.project import parse_project
from interlock.doors.cli.project_settings import (
    LOOK_UPS,
    NAMED_OTHERWISE,
    OF_EACH_VERB,
    SETTINGS,
    Credentials,
    read_seal,
)
from interlock.settings import CHOSEN
from tests.unit.doors.cli.conftest import Cli

OPERATOR = '[operator]\nid = "alice"\n'
DOCS = Path(__file__).parents[4] / "docs" / "cli.md"
HOST_KEYS = {
    "models": "[[models]]",
    "keys": "store",
    "key_folder": "store",
    "secrets": "[credentials]",
    "seal": "seal_file",
}
"""What a host brings that a file can say, by its key. The key that signs lies beside the store."""

OF_A_PROGRAM = {
    "signer",
    "facts",
    "fact_names",
    "principals",
    "ranker",
    "clock",
    "entropy",
    "resolver",
    "tls",
    "runners",
    "onlooker",
}
"""What a host brings that is code: a program with a gate of its own gives it."""

OTHER: Mapping[type, str] = {int: "2", float: "0.5", str: '"other"', list: '["10.1.0.0/16"]'}


def value(name: str, kind: type) -> str:
    """Another value than the default, as TOML."""
    if name in CHOSEN:
        default = getattr(Settings(), name)
        return f'"{next(each for each in CHOSEN[name] if each is not default)}"'
    return OTHER[kind]


def parsed(text: str) -> Settings:
    return parse_project(f"{text}\n{OPERATOR}", root=Path("/p")).settings


@pytest.mark.requirement("DOOR-6")
def test_every_setting_has_a_key_or_a_reason_why_it_has_none() -> None:
    names = {each.name for each in fields(Settings)}
    assert names == (set(SETTINGS) - {"secrets_env"}) | set(NAMED_OTHERWISE) | set(OF_EACH_VERB)
    assert set(LOOK_UPS) == {each.name for each in fields(LookUpRule)}
    assert {each.name for each in fields(Host)} == set(HOST_KEYS) | OF_A_PROGRAM


@pytest.mark.parametrize("name", [each for each in SETTINGS if each != "secrets_env"])
def test_each_key_is_read_and_reaches_the_gate(name: str) -> None:
    said = parsed(f"[interlock]\n{name} = {value(name, SETTINGS[name])}")
    assert getattr(said, name) != getattr(Settings(), name)
    assert said == Settings(**{name: getattr(said, name)})


@pytest.mark.parametrize("name", LOOK_UPS)
def test_each_key_of_look_ups_is_read_and_reaches_the_gate(name: str) -> None:
    said = parsed(f"[look_ups]\n{name} = 7").look_ups
    assert said == LookUpRule(**{name: 7})


@pytest.mark.parametrize("key", [*SETTINGS, *LOOK_UPS, *NAMED_OTHERWISE.values(), *HOST_KEYS.values()])
def test_each_key_is_documented(key: str) -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert f"\n{key} = " in text or f"\n{key} " in text or f"\n{key}\n" in text or key == "tenant in [operator]"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[interlock]\ndeadline_ms = 0", "interlock.toml: deadline_ms must be a whole number from 1, not 0"),
        ("[interlock]\nreap_every_s = true", "reap_every_s in .interlock. must be a number"),
        ('[interlock]\nprobe_acts = "shout"', "probe_acts must be report, degrade, not 'shout'"),
        ("[interlock]\nclosing_people = 3", "closing_people must be 1 or 2, not 3"),
        ("[look_ups]\nattempts = 0", "look_ups: attempts and at_once must be whole numbers from 1"),
        ("[look_ups]\nattempt = 1", "did you mean 'attempts'"),
        ('[interlock]\npublish = "all"', "has no setting 'publish'"),
        ("[credentials]\ntoken = 1", "token in .credentials. names a variable of the environment"),
        ("credentials = 1", ".credentials. is a table"),
    ],
)
def test_what_cannot_be_used_is_named_by_its_key(text: str, says: str) -> None:
    with pytest.raises(SettingsInvalid, match=says):
        parse_project(f"{text}\n{OPERATOR}", root=Path("/p"))


async def test_credentials_and_what_is_never_shown_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDERS_TOKEN", "s3cret-token")
    credentials = Credentials({"orders": "ORDERS_TOKEN", "gone": "NOT_THERE"})
    found = await credentials.fetch(("orders", "gone", "strange"), Principal("acme", "alice"))
    assert found == {"orders": "s3cret-token"}
    assert parsed('[interlock]\nsecrets_env = ["ORDERS_TOKEN", "NOT_THERE"]').secrets == ("s3cret-token",)


TOKEN = """

@tool(effect="read", owner="notes", secrets=["orders"])
async def who(context: Context) -> int:
    "Say how long the token is."
    return len(context.secrets["orders"])
"""


def test_a_tool_is_given_its_credential_and_what_a_store_seals_is_read_with_its_key_alone(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, settings = project / "tools.py", project / "interlock.toml"
    tools.write_text(tools.read_text().replace("import Arg, ", "import Arg, Context, ", 1) + TOKEN)
    (project / "seal").write_text("ab" * 32)
    text = settings.read_text().replace("[interlock]", '[interlock]\nseal_file = "seal"', 1)
    settings.write_text(f'{text}\n[credentials]\norders = "ORDERS_TOKEN"\n')
    monkeypatch.setenv("ORDERS_TOKEN", "s3cret-token")
    assert cli("call", "who", "--json").document["data"] == 12
    asked = cli("call", "save_note", '{"title": "x", "text": "y"}', "--task", "t", "--json").document["approval_id"]
    assert cli("approvals", "show", asked).code == 0
    (project / "seal").write_text("cd" * 32)
    assert cli("approvals", "show", asked).code != 0
    settings.write_text(settings.read_text().replace('seal_file = "seal"', 'seal_file = "none"'))
    error = cli("call", "who", "--json").document["error"]
    assert (error["code"], "cannot be read" in error["message"]) == ("SETTINGS_INVALID", True)


def test_a_seal_is_32_bytes_or_their_digits(tmp_path: Path) -> None:
    for text in (b"\xab" * 32, b"ab" * 32 + b"\n"):
        (tmp_path / "seal").write_bytes(text)
        assert read_seal(tmp_path / "seal") == b"\xab" * 32
    for text in (b"", b"ab", b"zz" * 32, b"\xff" * 31):
        (tmp_path / "seal").write_bytes(text)
        with pytest.raises(SettingsInvalid, match="holds no key"):
            read_seal(tmp_path / "seal")
