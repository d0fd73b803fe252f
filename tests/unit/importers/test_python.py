"""A package is no tool before it is allowed, and is not run before it is what was reviewed."""

import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.core.errors import SpecInvalid
from interlock.importers.python import (
    PythonSnapshot,
    load_python,
    python_changes,
    python_renewed,
    python_snapshot_at,
    python_tools,
    read_python_snapshot,
    take_python_snapshot,
    write_python_snapshot,
)
from tests.python_packages import CODE, ENTRIES, install

pytestmark = pytest.mark.requirement("REG-9")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path)
    yield tmp_path
    sys.modules.pop("acme_parts", None)


def allowing(*names: str, tools: tuple[str, ...] = ()) -> PythonSnapshot:
    taken = take_python_snapshot("acme-parts")
    entries = {name: replace(each, allow=name in names, tools=tools) for name, each in taken.entries.items()}
    return replace(taken, entries=entries)


def test_nothing_is_allowed_or_run_until_a_person_says_so(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = take_python_snapshot("acme-parts")
    assert {name: each.place for name, each in taken.entries.items()} == ENTRIES
    assert load_python(taken).tools == ()
    assert "I run" not in capsys.readouterr().out
    assert [each.spec().name for each in load_python(allowing("find")).tools] == ["find_part"]
    assert "I run" in capsys.readouterr().out


def test_of_several_those_are_meant_that_are_named(site: Path) -> None:
    found = load_python(allowing("both"))
    assert (found.tools, "find_part, order_part" in found.refused[0].reason) == ((), True)
    assert [each.spec().name for each in load_python(allowing("both", tools=("order_part",))).tools] == ["order_part"]
    assert [each.spec().name for each in load_python(allowing("all", tools=("find_part",))).tools] == ["find_part"]
    assert "is it 'find_part'" in load_python(allowing("all", tools=("find_prat",))).refused[0].reason


def test_code_that_is_not_what_was_reviewed_is_not_run(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot = allowing("find")
    install(site, code=CODE.replace("I run.", "I steal."), version="1.1")
    found = load_python(snapshot)
    assert (found.tools, "is not the code that was reviewed" in found.refused[0].reason) == ((), True)
    assert "I steal" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing", "is no tool"),
        ("missing", "cannot be imported: AttributeError"),
        ("elsewhere", "would not be imported from the files"),
    ],
)
def test_an_entry_that_gives_none_says_why_and_harms_no_other(
    site: Path, name: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    snapshot = allowing(name, "find")
    found = load_python(snapshot)
    assert [each.spec().name for each in found.tools] == ["find_part"]
    assert says in found.refused[0].reason
    with caplog.at_level(logging.WARNING):
        assert len(python_tools(snapshot)) == 1
    assert says in caplog.text


def test_a_package_that_ends_the_process_is_refused(site: Path) -> None:
    install(site, code="raise SystemExit(3)")
    assert "SystemExit" in load_python(allowing("find")).refused[0].reason


def test_an_entry_that_was_moved_by_hand_is_refused(site: Path) -> None:
    snapshot = allowing("find")
    entries = {"find": replace(snapshot.entries["find"], place="acme_parts:order_part")}
    found = load_python(replace(snapshot, entries=entries))
    assert "does not offer acme_parts:order_part as find" in found.refused[0].reason


def test_what_is_written_is_read_as_it_was_and_nothing_unknown_is(site: Path) -> None:
    snapshot = allowing("both", tools=("find_part",))
    text = write_python_snapshot(snapshot)
    assert read_python_snapshot(text.encode()) == snapshot
    (site / "acme.yaml").write_text(text.replace("allow:", "alow:"))
    with pytest.raises(SpecInvalid, match=r"acme\.yaml: entries\[find\]: there is no 'alow'"):
        python_snapshot_at(site / "acme.yaml")
    for broken, says in (("snapshot: mcp-1", "no snapshot"), (text.replace("digest: ", "digset: "), "is it 'digest'")):
        with pytest.raises(SpecInvalid, match=says):
            read_python_snapshot(broken.encode())


def test_renewing_closes_everything_where_code_changed_but_for_what_is_accepted(site: Path) -> None:
    before = allowing("find", "both")
    assert python_renewed(take_python_snapshot("acme-parts"), before) == before
    install(site, code=f"{CODE}# more", version="1.1")
    fresh = take_python_snapshot("acme-parts")
    after = python_renewed(fresh, before, accept=["both"])
    assert [name for name, each in after.entries.items() if each.allow] == ["both"]
    assert [each.name for each in python_changes(before, fresh)] == ["version", "digest"]
    with pytest.raises(SpecInvalid, match="--accept"):
        python_renewed(fresh, before, accept=["none"])
