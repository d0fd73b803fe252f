"""Retirement in steps: references first, notice, watching, the owner's word; then for good, with a way to go on."""

from dataclasses import replace
from typing import Any

import pytest

from interlock import Gate, Host, Principal, ToolCall, tool
from interlock.core.errors import ActRefused, MoveRefused, SpecInvalid, ToolUnknown
from interlock.core.lifecycle import Lifecycle, Need
from interlock.core.move_gates import Grounds
from interlock.core.observation import Status
from interlock.core.retirement import Replacement
from interlock.core.tool import Document, ErrorContract
from interlock.runtime.retiring import Notice
from interlock.testing.fakes import FakeClock
from tests.gates import ALICE, ALL, ASKS, AUDITOR, OPERATOR, AnyTool, Shelf, asked, code, opened, records
from tests.unit.runtime.test_catalogue import search_of

pytestmark = pytest.mark.requirement("REG-7")

EVE = Principal("acme", "eve", groups=frozenset({"eng"}))
GLOBEX = replace(OPERATOR, tenant="globex")
LATER = "2999-01-01"
EARLY = Grounds(reason="gone", waive={Need.NOTICE: "it leaks"})
TO_FIND = Replacement(
    "find_notes",
    renames={"query": "words"},
    added=Document.of({"folder": "inbox"}),
    errors={"NO_INDEX": "INDEX_GONE"},
)


def find_notes(version: str = "1") -> AnyTool:
    @tool(effect="read", owner="eng", name="find_notes", version=version, errors=[ErrorContract("INDEX_GONE")])
    async def find_notes(words: str, folder: str, limit: int = 5) -> list[str]:
        """Find notes in a folder."""
        return [words, folder]

    return find_notes


def old_search() -> AnyTool:
    @tool(effect="read", owner="eng", name="search", errors=[ErrorContract("NO_INDEX")])
    async def search(query: str, limit: int = 5) -> list[str]:
        """Search notes."""
        return [query]

    return search


def notice(replacement: Replacement | None = None, *, on: str = LATER, **more: Any) -> Notice:
    return Notice(retires_on=on, reason="a better one is there", replacement=replacement, **more)


async def called(gate: Gate, by: Principal = ALICE) -> Any:
    return await gate.call(ToolCall("c", "search", {"query": "x"}), principal=by)


async def test_a_notice_is_told_beside_results_and_in_the_listing_and_closes_nothing(gate_path: str) -> None:
    async with opened(gate_path, [old_search(), find_notes()]) as gate:
        assert (await called(gate)).hint == ""
        await gate.catalogue.announce("search", by=OPERATOR, notice=notice(TO_FIND))
        seen = await called(gate)
        assert (code(seen), seen.hint) == ("ok", "search is to be retired on 2999-01-01.")
        listed = gate.catalogue.get("search")
        assert listed.retirement is not None
        assert (listed.state, listed.retirement.by, listed.retirement.reason) == (
            Lifecycle.AVAILABLE,
            "olga",
            "a better one is there",
        )
        await gate.catalogue.recall("search", by=OPERATOR, reason="it stays")
        assert (await called(gate)).hint == ""
        with pytest.raises(SpecInvalid):
            await gate.catalogue.recall("search", by=OPERATOR, reason="it stays")
        said = [each["reason"] for each in await records(gate, "tool.announced")]
        assert said == ["a better one is there", "it stays"]


async def test_a_late_call_is_told_what_to_call_instead_and_how_and_is_never_mapped(gate_path: str) -> None:
    async with opened(gate_path, [old_search(), find_notes()]) as gate:
        await gate.catalogue.announce("search", by=OPERATOR, notice=notice(TO_FIND))
        await gate.catalogue.retire("search", by=OPERATOR, reason=EARLY)
        seen = await called(gate)
        assert code(seen) == "TOOL_RETIRED"
        assert seen.error.details == {
            "replacement": "find_notes",
            "renames": {"query": "words"},
            "added": {"folder": "inbox"},
            "errors": {"NO_INDEX": "INDEX_GONE"},
        }
        assert seen.hint == "Call find_notes instead: query is called words, folder is 'inbox'."
        wrong = await gate.call(ToolCall("c", "find_notes", {"query": "x"}), principal=ALICE)
        assert code(wrong) == "TOOL_ARGUMENT_INVALID"


async def test_a_day_that_was_announced_is_kept_also_where_gates_are_not_held_to(gate_path: str) -> None:
    async with opened(gate_path, [old_search(), find_notes()]) as gate:
        await gate.catalogue.announce("search", by=OPERATOR, notice=notice())
        with pytest.raises(MoveRefused, match="it lacks notice: it was announced for 2999-01-01") as refused:
            await gate.catalogue.retire("search", by=OPERATOR, reason="gone")
        assert refused.value.halt is not None
        assert refused.value.halt.lacking == (Need.NOTICE,)
        assert (await called(gate)).status is Status.OK
        await gate.catalogue.recall("search", by=OPERATOR, reason="another day")
        await gate.catalogue.retire("search", by=OPERATOR, reason="gone")
        assert (await called(gate)).status is Status.REFUSED


async def test_who_may_not_see_the_replacement_is_told_of_none(gate_path: str) -> None:
    policy = ALL + '@id("no") forbid (principal in Group::"guest", action == Action::"find_notes", resource);'
    guest = Principal("acme", "gil", groups=frozenset({"guest"}))
    async with opened(gate_path, [old_search(), find_notes()], policy) as gate:
        await gate.catalogue.announce("search", by=OPERATOR, notice=notice(TO_FIND, known=(ALICE, guest)))
        await gate.catalogue.retire("search", by=OPERATOR, reason=EARLY)
        seen = await called(gate, guest)
        assert (code(seen), seen.error.details) == ("TOOL_RETIRED", {})
        assert "find_notes" not in f"{seen.hint}{seen.error.message}"
        assert (await called(gate)).error.details["replacement"] == "find_notes"
        going = gate.catalogue.get("search").retirement
        assert going is not None
        assert going.replacement is not None
        assert (going.replacement.gains, going.replacement.losses) == ((), ("acme/gil",))


@pytest.mark.parametrize(
    ("replacement", "says"),
    [
        (replace(TO_FIND, renames={}), "nothing says what becomes of query"),
        (replace(TO_FIND, added=Document.of({"folder": 7})), "does not take the value given for folder"),
        (replace(TO_FIND, added=Document.of({})), "needs folder"),
        (replace(TO_FIND, name="nothing"), "cannot take its place"),
        (Replacement("search"), "cannot take its place"),
        (replace(TO_FIND, version="2"), "cannot take its place"),
    ],
)
async def test_a_replacement_that_does_not_map_or_is_not_there_is_refused(replacement: Replacement, says: str) -> None:
    async with opened(":memory:", [old_search(), find_notes()]) as gate:
        with pytest.raises(MoveRefused, match=says):
            await gate.catalogue.announce("search", by=OPERATOR, notice=notice(replacement))
        assert gate.catalogue.get("search").retirement is None


async def test_replacements_make_no_chains_and_no_circles(gate_path: str) -> None:
    versions = [search_of(each, version=each) for each in ("1", "2", "3")]
    async with opened(gate_path, versions) as gate:
        to_two, to_three = Replacement("search", "2"), Replacement("search", "3")
        await gate.catalogue.announce("search", version="1", by=OPERATOR, notice=notice(to_two))
        with pytest.raises(MoveRefused, match="takes the place of search 1 itself"):
            await gate.catalogue.announce("search", version="2", by=OPERATOR, notice=notice(to_three))
        back = notice(Replacement("search", "1"))
        with pytest.raises(MoveRefused, match="it is to go on"):
            await gate.catalogue.announce("search", version="2", by=OPERATOR, notice=back)
        with pytest.raises(MoveRefused, match="takes the place of search 1"):
            await gate.catalogue.retire("search", version="2", by=OPERATOR, reason="gone")
        await gate.catalogue.replace("search", to_three, version="1", by=OPERATOR, reason="2 goes too")
        await gate.catalogue.announce("search", version="2", by=OPERATOR, notice=notice(to_three))
        await gate.catalogue.retire("search", version="2", by=OPERATOR, reason=EARLY)


async def test_where_gates_hold_a_version_goes_after_its_day_and_the_owners_word_and_not_before(gate_path: str) -> None:
    clock = FakeClock()
    async with opened(gate_path, [old_search()], lifecycle="gated", host=Host(clock=clock)) as gate:
        forced = dict.fromkeys(await _lacking(gate), "a test")
        await gate.catalogue.sign_off("search", version="1", by=replace(OPERATOR, id="rita"), reason="seen")
        await gate.catalogue.move("search", Lifecycle.AVAILABLE, by=OPERATOR, reason=Grounds(reason="go", waive=forced))
        with pytest.raises(MoveRefused, match="notice: its retirement was not announced; confirmation"):
            await gate.catalogue.retire("search", by=OPERATOR, reason="gone")
        await gate.catalogue.announce("search", by=OPERATOR, notice=notice())
        with pytest.raises(ActRefused, match="owner"):
            await gate.catalogue.confirm("search", version="1", by=Principal("acme", "mallory"), reason="mine")
        await gate.catalogue.confirm("search", version="1", by=EVE, reason="nobody needs it")
        with pytest.raises(MoveRefused, match="it lacks notice: it was announced for 2999"):
            await gate.catalogue.retire("search", by=OPERATOR, reason="gone")
        clock.advance(40_000_000_000)
        await gate.catalogue.retire("search", by=OPERATOR, reason="gone")
        pack = (await gate.catalogue.evidence("search", version="1", by=OPERATOR)).packs[-1]
        going: Any = pack.retirement.value
        assert (pack.to, going["confirmed_by"], going["confirmed_why"]) == (
            Lifecycle.RETIRED,
            "eve",
            "nobody needs it",
        )


async def test_how_a_move_would_stand_is_told_to_those_alone_who_may_read_the_log(gate_path: str) -> None:
    async with opened(gate_path, [old_search(), find_notes()]) as gate:
        assert await gate.catalogue.readies("search", Lifecycle.RESTRICTED, version="1", by=AUDITOR)
        for by in (ALICE, replace(AUDITOR, tenant="globex"), replace(OPERATOR, tenant="globex")):
            with pytest.raises(ActRefused):
                await gate.catalogue.readies("search", Lifecycle.RESTRICTED, version="1", by=by)


async def _lacking(gate: Gate) -> list[Any]:
    found = await gate.catalogue.readies("search", Lifecycle.AVAILABLE, version="1", by=OPERATOR)
    return [each.need for each in found if each.stands.value == "lacking" and each.need.value != "review"]


async def test_calls_of_a_version_that_is_to_go_are_counted_by_caller(gate_path: str) -> None:
    async with opened(gate_path, [old_search(), find_notes()]) as gate:
        await called(gate)
        with pytest.raises(MoveRefused, match="not announced"):
            await gate.catalogue.watched("search", version="1", by=OPERATOR)
        await gate.catalogue.announce("search", by=OPERATOR, notice=notice())
        for by in (ALICE, EVE, EVE):
            await called(gate, by)
        seen = await gate.catalogue.watched("search", version="1", by=OPERATOR)
        assert (seen.calls, seen.by, seen.is_whole) == (3, (("acme/eve", 2), ("acme/alice", 1)), True)


async def test_what_rests_on_a_version_is_listed_first_and_goes_on_record_with_the_notice(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, ASKS) as gate:
        waits = await asked(gate)
        ((found, rests),) = await gate.catalogue.references("save", by=OPERATOR)
        assert (found.version, rests.approvals, rests.runs_looked) == ("1", (f"acme/{waits}",), True)
        await gate.catalogue.announce("save", by=OPERATOR, notice=notice())
        (record,) = await records(gate, "tool.announced")
        assert record["versions"][0]["references"]["approvals"] == {"count": 1, "named": [f"acme/{waits}"]}


async def test_a_retired_version_is_read_for_ever(gate_path: str) -> None:
    async with opened(gate_path, [old_search()]) as gate:
        held = gate.catalogue.get("search")
        await called(gate)
        await gate.catalogue.retire("search", by=OPERATOR, reason="gone")
        (listed,) = await gate.catalogue.list_versions("search")
        assert (listed.state, listed.digest) == (Lifecycle.RETIRED, held.digest)
        assert (await gate.catalogue.evidence("search", version="1", by=OPERATOR)).contract.value is not None
        assert [each["tool"] for each in await records(gate, "call.settled")] == ["search"]


@pytest.mark.parametrize("by", [ALICE, GLOBEX])
async def test_only_operators_of_whose_it_is_announce_retire_and_look(by: Principal) -> None:
    async with opened(":memory:", [old_search()]) as gate:
        acts = gate.catalogue
        for act in (
            acts.announce("search", by=by, notice=notice()),
            acts.retire("search", by=by, reason="gone"),
            acts.replace("search", Replacement("x"), by=by, reason="why"),
            acts.references("search", by=by),
            acts.watched("search", version="1", by=by),
        ):
            with pytest.raises(ActRefused):
                await act


async def test_what_is_announced_has_a_name_a_day_that_is_to_come_and_a_reason() -> None:
    async with opened(":memory:", [old_search()]) as gate:
        acts = gate.catalogue
        for name in ("nope", "", "x" * 10_000, "search\x00"):
            with pytest.raises(ToolUnknown):
                await acts.announce(name, by=OPERATOR, notice=notice())
        for on in ("2001-01-01", "soon", ""):
            with pytest.raises(MoveRefused):
                await acts.announce("search", by=OPERATOR, notice=notice(on=on))
        with pytest.raises(MoveRefused, match="say why"):
            await acts.announce("search", by=OPERATOR, notice=Notice(retires_on=LATER, reason=" "))
        assert await records(gate, "tool.announced") == []


async def test_a_version_to_which_its_name_was_promoted_goes_with_all_others_or_once_the_name_means_another() -> None:
    async with opened(":memory:", [search_of("a"), search_of("b", version="2")]) as gate:
        await gate.catalogue.promote("search", "1", by=OPERATOR, reason="2 is slow")
        with pytest.raises(MoveRefused, match="was promoted to 1, and would stay closed with it") as refused:
            await gate.catalogue.retire("search", version="1", by=OPERATOR, reason="gone")
        assert refused.value.halt is not None
        assert refused.value.halt.promoted
        await gate.catalogue.follow_newest("search", by=OPERATOR, reason="1 goes")
        await gate.catalogue.retire("search", version="1", by=OPERATOR, reason="gone")
        assert code(await called(gate)) != "TOOL_RETIRED"
        await gate.catalogue.promote("search", "2", by=OPERATOR, reason="it stays")
        await gate.catalogue.retire("search", by=OPERATOR, reason="gone")
        assert code(await called(gate)) == "TOOL_RETIRED"
