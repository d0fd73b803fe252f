"""A snapshot of a server is written, read and renewed without losing a decision, and opens nothing by itself."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.http_template import Credential
from interlock.declare.mcp_server import McpListing, McpServer
from interlock.importers.mcp_snapshot import mcp_renewed, read_mcp_snapshot, take_mcp_snapshot, write_mcp_snapshot
from tests.mcp_snapshots import SERVER, allowed, entry, taken

pytestmark = pytest.mark.requirement("REG-9")


def test_nothing_is_allowed_until_a_person_says_so_and_what_is_no_tool_is_listed() -> None:
    snapshot = taken(entry("a"), entry("b", inputSchema={"$ref": "file:///x"}), 7)
    assert [*snapshot.tools] == ["a"]
    assert not snapshot.tools["a"].allow
    assert [*snapshot.not_tools] == ["entry 2", "b"]


def test_what_is_written_is_read_as_it_was() -> None:
    first = taken(entry("a", description="A\u200b\n搜索 \n tail"), entry("b"), instructions="Do\u200b this.\nAnd that.")
    decided = replace(
        first.tools["a"],
        allow=True,
        version="3",
        effect=Effect.READ,
        external=False,
        hide=("x",),
        fix={"y": [1, {"z": None}]},
        narrow={"q": {"maxLength": 4}},
        options={"owner": "vets", "resource": ("Pet", "q"), "labels": {"trust": "internal"}},
    )
    server = McpServer(url="https://x.example.com/mcp", credentials=(Credential("token"),), headers={"X-A": "1"})
    started = McpServer(command=("sh", "-c", "x"), folder="..", environment={"A": "1"}, secret_environment={"B": "s"})
    snapshot = replace(first, tools={**first.tools, "a": decided}, passes=("text", "widened"))
    for each in (server, started):
        again = read_mcp_snapshot(write_mcp_snapshot(replace(snapshot, server=each)).encode())
        assert again == replace(snapshot, server=each)


def test_what_a_person_reviews_hides_nothing_and_what_a_model_reads_is_clean() -> None:
    snapshot = taken(entry(description="A\u200b\u202eB"), instructions="Obey\u200b", name="po\u200bst")
    text = write_mcp_snapshot(snapshot)
    assert not {"\u200b", "\u202e"} & set(text)
    assert "A⟨U+200B⟩⟨U+202E⟩B" in text
    assert snapshot.instructions.text == "Obey"
    assert not snapshot.instructions.allow


def test_a_snapshot_says_what_it_cannot_use() -> None:
    text = write_mcp_snapshot(taken(entry("a"), entry("b")))
    twice = text.replace("allow: false\n    name: b", "allow: true\n    name: A").replace(
        "allow: false\n    name: a", "allow: true\n    name: a"
    )
    for broken, says in (
        ("snapshot: openapi-1", "no snapshot"),
        (text.replace("owner: office", "onwer: office"), "is it 'owner'"),
        (text.replace("owner: office\n", ""), "owner is missing"),
        (text.replace("made_of: {}\n", ""), "made_of is missing"),
        (text.replace("passes: []", "passes: [gone]"), "passes: 'gone' is none of text"),
        (text.replace("url: https", "ulr: https"), "is it 'url'"),
        (twice, "have the name a"),
        (text.replace("Send a letter", "Send a bomb"), "renew the snapshot"),
    ):
        with pytest.raises(SpecInvalid, match=says):
            read_mcp_snapshot(broken.encode())


def test_renewing_keeps_decisions_and_closes_what_has_changed() -> None:
    before = allowed(taken(entry("a"), entry("b"), entry("c")), effect=Effect.READ, options={"owner": "vets"})
    before = replace(before, passes=("text",))
    fresh = taken(entry("a", title="T"), entry("b", title="T"), entry("c"), entry("d"))
    after = mcp_renewed(fresh, before, accept=["b"])
    assert {key: (each.allow, each.version) for key, each in after.tools.items()} == {
        "a": (False, "2"),
        "b": (True, "2"),
        "c": (True, "1"),
        "d": (False, "1"),
    }
    assert {each.effect for each in [*after.tools.values()][:3]} == {Effect.READ}
    assert after.passes == ("text",)
    assert read_mcp_snapshot(write_mcp_snapshot(after).encode()) == after
    with pytest.raises(SpecInvalid, match="--accept: there is no 'e'"):
        mcp_renewed(fresh, before, accept=["e"])


def test_instructions_that_changed_are_told_to_nobody_again() -> None:
    first = taken(entry(), instructions="One.")
    before = replace(first, instructions=replace(first.instructions, allow=True))
    assert mcp_renewed(taken(entry(), instructions="One."), before).instructions.allow
    assert not mcp_renewed(taken(entry(), instructions="Two."), before).instructions.allow


def test_renewed_from_another_server_or_other_files_all_is_closed_but_for_what_is_accepted(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text("one")
    server = McpServer(command=("python3", "server.py"), folder=str(tmp_path))
    listed = (entry("a"), entry("b"))
    before = allowed(taken(*listed, server=server, instructions="One."))
    before = replace(before, instructions=replace(before.instructions, allow=True))
    assert all(each.allow for each in mcp_renewed(taken(*listed, server=server), before).tools.values())
    script.write_text("two")
    other_files = taken(*listed, server=server, instructions="One.")
    for fresh in (other_files, taken(*listed, instructions="One.")):
        after = mcp_renewed(fresh, before, accept=["a"])
        assert {key: each.allow for key, each in after.tools.items()} == {"a": True, "b": False}
        assert not after.instructions.allow


def test_what_is_new_takes_no_name_that_is_taken() -> None:
    before = allowed(taken(entry("a")), name="search")
    after = mcp_renewed(taken(entry("a"), entry("search")), before)
    assert len({each.name for each in after.tools.values()}) == 2
    assert after.tools["a"].name == "search"


def test_the_files_of_a_command_are_pinned(tmp_path: Path) -> None:
    (tmp_path / "serve.py").write_text("1")
    server = McpServer(command=("sh", "serve.py"), folder=str(tmp_path))
    snapshot = take_mcp_snapshot(McpListing((entry(),)), server=server, owner="office", prefix="post_")
    assert [*snapshot.made_of] == ["serve.py"]
    assert snapshot.tools["send"].name == "post_send"
    assert snapshot.source["identity"].startswith("stdio://")


@given(st.lists(st.recursive(st.none() | st.booleans() | st.text(max_size=5), st.lists), max_size=4))
def test_whatever_is_listed_a_good_tool_beside_it_is_one(odd: list[Any]) -> None:
    snapshot = taken(*odd, entry("good"), *odd)
    assert [*snapshot.tools] == ["good"]
    assert read_mcp_snapshot(write_mcp_snapshot(snapshot).encode()) == snapshot
    assert snapshot.server == SERVER
