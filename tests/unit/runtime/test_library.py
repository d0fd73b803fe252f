"""The library in a store: published with what models saw, accepted anew by people, and what ran kept for gates."""

from dataclasses import replace
from datetime import datetime

import pytest

from interlock.core.call import Principal, PrincipalKind
from interlock.core.errors import ActRefused, SpecInvalid, ToolUnknown
from interlock.core.example import ExampleKind, Expected, ToolExample
from interlock.core.example_stale import surface_digest
from interlock.core.observation import Status
from interlock.core.readiness import Readiness, Tally
from interlock.core.selection import Choice, SelectionCase
from tests.gates import ALICE, AUDITOR, BOT, OPERATOR, Shelf, opened, records

ONE = ToolExample(name="one", tool="search", kind=ExampleKind.TYPICAL, expected=Expected(status=Status.OK))
TWO = replace(ONE, name="two")
CASE = SelectionCase(words="find my notes", tool="search")


@pytest.mark.requirement("REG-8")
async def test_what_is_published_is_kept_with_what_a_model_saw_and_versioned(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        await gate.examples.publish([ONE, TWO], [CASE], by=OPERATOR)
        seen = surface_digest(shelf.search.spec())
        assert await gate.examples.examples(by=OPERATOR) == (replace(ONE, seen=seen), replace(TWO, seen=seen))
        assert await gate.examples.cases(by=OPERATOR) == (CASE,)
        await gate.examples.publish([replace(ONE, task="shown")], [], by=OPERATOR)
        assert [(each.name, each.task) for each in await gate.examples.examples(by=OPERATOR)] == [("one", "shown")]
        assert await gate.examples.cases(by=OPERATOR) == ()
        saved = await records(gate, "examples.saved")
        revisions = {each["name"].rpartition("\x1f")[2]: each["revision"] for each in saved[-1]["examples"]}
        assert (revisions["one"], revisions["two"]) == (2, 2)
        await gate.examples.publish([replace(ONE, task="shown")], [], by=OPERATOR)
        assert len(await records(gate, "examples.saved")) == 2


async def test_an_example_that_was_taken_out_can_be_published_again() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        for wanted in ([ONE, TWO], [ONE], [ONE, TWO]):
            await gate.examples.publish(wanted, by=OPERATOR)
            assert [each.name for each in await gate.examples.examples(by=OPERATOR)] == [each.name for each in wanted]


async def test_examples_of_other_tools_are_left_as_they_are() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        await gate.examples.publish([ONE], by=OPERATOR)
        await gate.examples.publish([replace(ONE, tool="save")], by=OPERATOR)
        assert [each.tool for each in await gate.examples.examples(by=OPERATOR)] == ["save", "search"]


@pytest.mark.requirement("REG-8")
async def test_only_operators_publish_and_only_of_tools_that_there_are() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        with pytest.raises(ActRefused):
            await gate.examples.publish([ONE], by=ALICE)
        with pytest.raises(ToolUnknown):
            await gate.examples.publish([replace(ONE, tool="none")], by=OPERATOR)
        with pytest.raises(SpecInvalid):
            await gate.examples.publish([replace(ONE, name="a\x1fb")], by=OPERATOR)
        assert await gate.examples.examples(by=OPERATOR) == ()


@pytest.mark.requirement("REG-8")
async def test_an_example_of_another_domain_is_accepted_by_a_person_by_name_and_on_record() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools) as gate:
        await gate.examples.publish([replace(ONE, domain="sales", seen="0" * 64)], by=OPERATOR)
        robot = Principal("acme", "bot", PrincipalKind.SERVICE, OPERATOR.groups)
        for by, reason in (
            (ALICE, "same"),
            (robot, "same"),
            (replace(BOT, groups=OPERATOR.groups), "x"),
            (OPERATOR, " "),
        ):
            with pytest.raises(ActRefused):
                await gate.examples.accept("search", "one", by=by, reason=reason)
        found = await gate.examples.accept("search", "one", by=OPERATOR, reason="same rules")
        assert found.reviewed is not None
        assert (found.reviewed.by, found.reviewed.why) == ("olga", "same rules")
        assert datetime.fromisoformat(found.reviewed.at).tzinfo is not None
        assert found.seen == surface_digest(shelf.search.spec())
        assert await gate.examples.examples(by=OPERATOR) == (found,)
        [record] = await records(gate, "example.accepted")
        assert (record["principal"], record["domain"], record["reason"]) == ("olga", "sales", "same rules")
        with pytest.raises(ToolUnknown):
            await gate.examples.accept("search", "none", by=OPERATOR, reason="x")


@pytest.mark.requirement("REG-8")
async def test_files_carry_what_was_accepted_of_them_as_long_as_they_stay_as_they_were() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        kept = (await gate.examples.publish([ONE], by=OPERATOR))[0]
        assert kept.seen
        assert await gate.examples.carried([ONE]) == (kept,)
        changed = replace(ONE, task="other")
        assert await gate.examples.carried([changed, TWO]) == (changed, TWO)


@pytest.mark.requirement("REG-8")
async def test_what_ran_is_kept_by_the_digest_of_the_version_for_the_gates_of_its_moves(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        assert await gate.examples.readiness("d" * 64, by=OPERATOR) is None
        found = Readiness(tool="search", version="1", digest="d" * 64, passed={ExampleKind.TYPICAL: 1}, at_us=1)
        await gate.examples.keep([found], by=OPERATOR)
        kept = await gate.examples.readiness("d" * 64, by=OPERATOR)
        assert kept is not None
        assert kept.at_us > 1
        assert replace(kept, at_us=1) == found
        await gate.examples.keep([replace(found, failing=("one",))], by=OPERATOR)
        again = await gate.examples.readiness("d" * 64, by=OPERATOR)
        assert again is not None
        assert again.failing == ("one",)
        with pytest.raises(ActRefused):
            await gate.examples.keep([found], by=ALICE)
        assert [each["versions"][0]["passed"] for each in await records(gate, "examples.ran")] == [1, 1]


@pytest.mark.requirement("REG-13")
async def test_who_keeps_how_examples_stand_writes_over_nothing_that_is_known_of_words(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        looked_earlier = Readiness(
            tool="search", version="1", digest="d" * 64, passed={ExampleKind.TYPICAL: 1}, at_us=1
        )
        words = replace(looked_earlier, passed={}, at_us=0, selection=Tally(0, 1), risk=Tally(0, 2))
        await gate.examples.keep_words([words], by=OPERATOR)
        await gate.examples.keep([looked_earlier], by=OPERATOR)
        kept = await gate.examples.readiness("d" * 64, by=OPERATOR)
        assert kept is not None
        assert (kept.passed, kept.selection, kept.risk) == ({ExampleKind.TYPICAL: 1}, Tally(0, 1), Tally(0, 2))
        await gate.examples.keep_words([replace(words, risk=Tally(2))], by=OPERATOR)
        kept = await gate.examples.readiness("d" * 64, by=OPERATOR)
        assert kept is not None
        assert (kept.passed, kept.selection, kept.risk) == ({ExampleKind.TYPICAL: 1}, Tally(0, 1), Tally(2))
        with pytest.raises(ActRefused):
            await gate.examples.keep_words([words], by=ALICE)


async def test_choices_are_kept_by_chooser_in_place_of_those_before() -> None:
    first = Choice(CASE.id, "ranker", "desk", "save", False, {"search": "a", "save": "b"})
    second = Choice(CASE.id, "ranker", "desk", "search", True, {"search": "a2", "save": "b"})
    other = Choice(CASE.id, "ranker", "clerk", "search", True, {"search": "a"})
    async with opened(":memory:", Shelf().tools) as gate:
        assert await gate.examples.choices("ranker", by=OPERATOR) == ()
        await gate.examples.keep_choices("ranker", [first, other], by=OPERATOR)
        await gate.examples.keep_choices("ranker", [second], by=OPERATOR)
        assert await gate.examples.choices("ranker", by=OPERATOR) == (other, second)
        assert await gate.examples.choices("model", by=OPERATOR) == ()


@pytest.mark.parametrize("by", [ALICE, replace(OPERATOR, tenant="globex"), replace(AUDITOR, tenant="globex")])
async def test_what_is_kept_is_read_by_those_alone_who_read_the_log_of_the_installations_tenant(by: Principal) -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        for read in (
            gate.examples.examples(by=by),
            gate.examples.cases(by=by),
            gate.examples.readiness("d" * 64, by=by),
            gate.examples.choices("ranker", by=by),
        ):
            with pytest.raises(ActRefused):
                await read
        assert await gate.examples.examples(by=AUDITOR) == ()
