"""`interlock audit`: the log is read by whom it may be, proves itself, and names the first place where it does not."""

import json
from pathlib import Path

import pytest

from interlock.doors.cli import audit
from tests.unit.doors.cli.conftest import Cli, Ran


@pytest.fixture
def export(cli: Cli, project: Path, waiting: str) -> Path:
    """An export of a log with a few records."""
    assert cli("audit", "export", "-o", "log.jsonl").code == 0
    return project / "log.jsonl"


def key(cli: Cli) -> str:
    return str(cli("audit", "fingerprint", "--json").document["fingerprint"])


def alone(cli: Cli, export: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> Ran:
    """Verify an export where there is neither project nor store."""
    elsewhere = export.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    (elsewhere / "log.jsonl").write_bytes(export.read_bytes())
    monkeypatch.chdir(elsewhere)
    (export.parent / "interlock.toml").rename(export.parent / "away")
    try:
        return cli("audit", "verify", "log.jsonl", *more, "--json")
    finally:
        (export.parent / "away").rename(export.parent / "interlock.toml")
        monkeypatch.chdir(export.parent)


@pytest.mark.requirement("AUD-4")
def test_reading_and_exporting_take_the_group(cli: Cli, project: Path, waiting: str) -> None:
    for verb in (("query",), ("export", "-o", "x.jsonl")):
        ran = cli("audit", *verb, "--as", "second", "--json")
        assert (ran.code, ran.document["error"]["code"]) == (3, "PERMISSION_DENIED")
    assert not (project / "x.jsonl").exists()


def test_records_are_found_by_kind_call_subject_and_time(cli: Cli, project: Path, waiting: str) -> None:
    def found(*options: str) -> list[str]:
        return [each["kind"] for each in cli("audit", "query", *options, "--json").document["records"]]

    assert found("--kind", "call.waiting") == ["call.waiting"]
    assert found("--subject", waiting) == ["call.waiting"]
    call = cli("approvals", "show", waiting, "--json").document["call_id"]
    assert found("--call", call) == ["call.waiting"]
    assert found("--since", "1h") == found()
    assert found("--since", "2999-01-01") == []
    assert len(found("--limit", "1")) == 1
    assert found("--limit", "1") == found()[-1:]
    assert "There may be older ones" in cli("audit", "query", "--limit", "1").out
    assert cli("audit", "query", "--kind", "call.closed").out == "No record matches.\n"


@pytest.mark.parametrize(("kind", "says"), [("call.setled", "did you mean call.settled?"), ("nope", "call.settled, ")])
def test_a_kind_of_record_that_there_is_none_of_is_named(cli: Cli, project: Path, kind: str, says: str) -> None:
    ran = cli("audit", "query", "--kind", kind, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (2, "USAGE")
    assert says in ran.document["error"]["message"]


def test_the_newest_are_found_on_every_page(cli: Cli, waiting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = cli("audit", "query", "--json").document["records"]
    monkeypatch.setattr(audit, "PAGE", 1)
    assert cli("audit", "query", "--json").document["records"] == whole
    assert cli("audit", "query", "--limit", "2", "--json").document["records"] == whole[-2:]


def test_a_record_of_several_tools_names_them_all(cli: Cli, waiting: str) -> None:
    assert "read_note, save_note" in cli("audit", "query", "--kind", "tool.registered").out


@pytest.mark.parametrize("since", ["yesterday", "999999999d", "5x"])
def test_a_time_that_is_none_is_named(cli: Cli, project: Path, since: str) -> None:
    ran = cli("audit", "query", "--since", since, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (2, "USAGE")


@pytest.mark.requirement("AUD-2")
def test_a_store_holds_and_says_what_that_cannot_show(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("audit", "verify", "--fingerprint", key(cli).upper(), "--json")
    assert (ran.code, ran.document["holds"]) == (0, True)
    assert ran.document["records"] > 2
    assert "no head or mark held outside was given" in ran.document["limits"][0]


@pytest.mark.requirement("AUD-2")
def test_a_key_with_another_fingerprint_is_not_trusted(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("audit", "verify", "--fingerprint", "0" * 64, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "FORGED")


@pytest.mark.parametrize("text", ["abc", "0" * 63, "g" * 64])
def test_a_fingerprint_that_is_none_is_a_slip_and_not_a_forgery(cli: Cli, project: Path, text: str) -> None:
    for file in ((), ("log.jsonl",)):
        ran = cli("audit", "verify", *file, "--fingerprint", text, "--json")
        assert (ran.code, ran.document["error"]["code"]) == (2, "USAGE")


@pytest.mark.requirement("AUD-2")
def test_a_lost_key_is_not_replaced_whatever_is_asked(cli: Cli, project: Path, waiting: str) -> None:
    kept = key(cli)
    (project / "interlock.db.key").rename(project / "away")
    for verb in (("approvals", "list"), ("audit", "fingerprint"), ("audit", "verify"), ("tools", "list")):
        ran = cli(*verb, "--json")
        assert (ran.code, ran.document["error"]["code"]) == (1, "KEY_INVALID")
        assert "Put the key file back" in ran.document["error"]["next"]
        assert f"signed by the key {kept}" in ran.document["error"]["message"]
        assert not (project / "interlock.db.key").exists()
    (project / "away").rename(project / "interlock.db.key")
    assert cli("audit", "verify", "--fingerprint", kept).code == 0


@pytest.mark.requirement("AUD-2")
def test_a_head_kept_outside_shows_that_the_log_was_replaced(cli: Cli, project: Path, waiting: str) -> None:
    kept = cli("audit", "head", "--json").document
    anchors = [word for each in kept["heads"] for word in ("--head", each)]
    ran = cli("audit", "verify", *anchors, "--mark", kept["mark"], "--json")
    assert (ran.code, ran.document["holds"]) == (0, True)
    assert "no head or mark held outside was given" not in ran.document["limits"][0]
    for each in project.glob("interlock.db*"):
        if each.suffix != ".key" and each.is_file():
            each.unlink()
    cli("tools", "list")
    for anchor in (anchors, ["--mark", kept["mark"]]):
        ran = cli("audit", "verify", *anchor, "--json")
        assert (ran.code, ran.document["holds"], ran.document["error"]["code"]) == (1, False, "LOG_BROKEN")


@pytest.mark.requirement("AUD-2")
def test_an_export_proves_itself_without_the_store(cli: Cli, export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = alone(cli, export, monkeypatch, "--fingerprint", key(cli))
    assert (ran.code, ran.document["holds"]) == (0, True)
    other = alone(cli, export, monkeypatch, "--fingerprint", "0" * 64)
    assert (other.code, other.document["what"]) == (1, "forged")
    assert "do not trust this file" in other.document["error"]["next"]
    assert "store" not in other.document["error"]["next"]
    without = alone(cli, export, monkeypatch)
    assert (without.code, without.document["error"]["code"]) == (1, "FINGERPRINT_MISSING")


@pytest.mark.requirement("AUD-2")
def test_a_changed_export_is_broken_at_a_line(cli: Cli, export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprint = key(cli)
    lines = export.read_bytes().splitlines(keepends=True)
    export.write_bytes(b"".join([*lines[:2], lines[3], *lines[4:]]))
    ran = alone(cli, export, monkeypatch, "--fingerprint", fingerprint)
    assert (ran.code, ran.document["holds"], ran.document["line"]) == (1, False, 3)
    people = cli("audit", "verify", "log.jsonl", "--fingerprint", fingerprint)
    assert (people.code, people.out) == (1, "")
    assert people.err.startswith("BROKEN:")


def test_an_export_that_is_not_there_is_said_so_first(cli: Cli) -> None:
    for options in ((), ("--fingerprint", "0" * 64)):
        ran = cli("audit", "verify", "nope.jsonl", *options, "--json")
        assert (ran.code, ran.document["error"]["code"]) == (1, "FILE_UNUSABLE")


def test_an_export_may_go_to_a_pipe(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("audit", "export", "-o", "-")
    assert not (project / "-").exists()
    assert f"the key's fingerprint is {key(cli)}" in ran.err
    (project / "log.jsonl").write_text(ran.out)
    assert cli("audit", "verify", "log.jsonl", "--fingerprint", key(cli)).code == 0
    both = cli("audit", "export", "-o", "-", "--json")
    assert (both.code, both.document["error"]["code"]) == (2, "USAGE")


def test_an_export_overwrites_nothing(cli: Cli, export: Path) -> None:
    before = export.read_bytes()
    ran = cli("audit", "export", "-o", "log.jsonl", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "NOT_WRITTEN")
    assert "log.jsonl exists already" in ran.document["error"]["message"]
    assert export.read_bytes() == before


def test_an_export_ends_with_how_to_prove_it(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("audit", "export", "-o", "log.jsonl")
    assert f"interlock audit verify log.jsonl --fingerprint {key(cli)}" in ran.out
    kinds = [each["kind"] for each in cli("audit", "query", "--json").document["records"]]
    assert kinds[-1] == "audit.exported"


@pytest.mark.parametrize(
    "option",
    [("--head", "main:1"), ("--head", "main:x:00"), ("--head", "a:1:zz"), ("--mark", "1"), ("--mark", "x:" + "0" * 64)],
)
def test_what_is_no_head_or_mark_is_named(cli: Cli, project: Path, option: tuple[str, str]) -> None:
    ran = cli("audit", "verify", *option, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (2, "USAGE")


def test_arguments_and_results_are_on_record_without_secrets(cli: Cli, project: Path) -> None:
    cli("call", "save_note", json.dumps({"title": "a", "text": "password=hunter2secret"}), "--task", "t")
    assert "hunter2secret" not in cli("audit", "query", "--json").out


@pytest.mark.requirement("AUD-4", "DOOR-6")
def test_a_purge_says_what_goes_asks_and_leaves_a_log_that_holds(cli: Cli, project: Path, waiting: str) -> None:
    assert cli("approvals", "approve", waiting, "--as", "second", "--yes", "--run").code == 0
    dry = cli("audit", "purge", "--before", "0s", "--dry-run", "--json").document
    assert (dry["done"], dry["records"] > 0) == (False, True)
    assert "This would go" in cli("audit", "purge", "--before", "0s", "--dry-run").out
    ran = cli("audit", "purge", "--before", "0s", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "NOT_CONFIRMED")
    done = cli("audit", "purge", "--before", "0s", "--yes", "--json").document
    assert (done["done"], done["records"]) == (True, dry["records"])
    assert cli("audit", "purge", "--before", "0s", "--dry-run", "--json").document["records"] == 0
    assert cli("audit", "verify").code == 0
    assert cli("audit", "export", "-o", "log.jsonl").code == 0
    assert cli("audit", "verify", "log.jsonl", "--fingerprint", key(cli)).code == 0


def test_a_purge_takes_an_operator_and_a_time_that_has_passed(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("audit", "purge", "--before", "1d", "--yes", "--as", "second", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (3, "PERMISSION_DENIED")
    for before in ("2999-01-01", "soon"):
        assert cli("audit", "purge", "--before", before, "--yes").code == 2
    nothing = cli("audit", "purge", "--before", "1d", "--dry-run").out
    assert "0 records before 1d" in nothing


def test_how_long_the_project_keeps_things_is_what_a_purge_goes_by(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("audit", "purge", "--dry-run", "--json")
    assert (ran.code, "keep_days" in ran.document["error"]["message"]) == (2, True)
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace("[interlock]", "[interlock]\nkeep_days = 30"))
    assert "0 records before 30d" in cli("audit", "purge", "--dry-run").out
    assert "0 records before 2d" in cli("audit", "purge", "--before", "2d", "--dry-run").out
