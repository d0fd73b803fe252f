"""Moves at the gate: what opens a version passes its gate, and each move leaves evidence that anybody can check."""

import json
from dataclasses import replace
from typing import Any

import pytest

from interlock import Gate, Principal, PrincipalKind
from interlock.core.errors import ActRefused, MoveRefused, SpecInvalid, ToolUnknown
from interlock.core.evidence_pack import is_whole
from interlock.core.lifecycle import Lifecycle, Need
from interlock.core.move_gates import Grounds, Standing
from tests.gates import ALICE, ASKS, AUDITOR, OPERATOR, Shelf, asked, code, opened, records, save, search
from tests.unit.runtime.test_catalogue import search_of

pytestmark = pytest.mark.requirement("REG-2")

RITA = Principal("acme", "rita", groups=frozenset({"reviewer"}))
WAIVED = dict.fromkeys(
    (Need.CANCELLATION, Need.ERRORS, Need.AUDIT_FIELDS, Need.EXAMPLES, Need.ROLLBACK), "a test has none"
)


READY = Grounds(reason="ready", waive=WAIVED)


async def state(gate: Gate, name: str = "search") -> list[str]:
    return [each.state.value for each in await gate.catalogue.list_versions(name, tenant="acme")]


async def test_where_gates_hold_a_new_version_takes_no_calls_until_it_has_passed(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, lifecycle="gated") as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "TOOL_NOT_FOUND"
        with pytest.raises(MoveRefused, match=r"examples: its examples have not run.*review: nobody but"):
            await gate.catalogue.move("search", Lifecycle.AVAILABLE, by=OPERATOR, reason="ready")
        assert await state(gate) == ["candidate"]
        await gate.catalogue.sign_off("search", version="1", by=RITA, reason="read its code")
        grounds = Grounds(reason="ready", waive=WAIVED, review_on="2027-01-31", withdraw_when=("it is wrong twice",))
        await gate.catalogue.move("search", Lifecycle.AVAILABLE, by=OPERATOR, reason=grounds)
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        (moved,) = await records(gate, "tool.moved")
        assert moved["waived"] == {need.value: "a test has none" for need in WAIVED if need is not Need.CANCELLATION}


async def test_nobody_passes_a_gate_on_their_own_signature(gate_path: str) -> None:
    async with opened(gate_path, [Shelf().search], lifecycle="gated") as gate:
        await gate.catalogue.sign_off("search", version="1", by=OPERATOR, reason="mine")
        with pytest.raises(MoveRefused, match="review"):
            await gate.catalogue.move("search", Lifecycle.AVAILABLE, by=OPERATOR, reason=READY)
        await gate.catalogue.sign_off("search", version="1", by=RITA, reason="seen")
        await gate.catalogue.move("search", Lifecycle.AVAILABLE, by=OPERATOR, reason=READY)


@pytest.mark.parametrize(
    "by",
    [
        ALICE,
        replace(RITA, kind=PrincipalKind.AGENT),
        replace(RITA, acting_for="bob"),
        replace(RITA, tenant="globex"),
    ],
)
async def test_only_people_who_may_review_sign_for_a_version(by: Principal) -> None:
    async with opened(":memory:", [Shelf().search]) as gate:
        with pytest.raises((ActRefused, ToolUnknown)):
            await gate.catalogue.sign_off("search", version="1", by=by, reason="seen")
        with pytest.raises(MoveRefused):
            await gate.catalogue.sign_off("search", version="1", by=RITA, reason=" ")
        with pytest.raises(ToolUnknown):
            await gate.catalogue.sign_off("search", version="2", by=RITA, reason="seen")


async def test_where_gates_are_open_a_version_is_available_at_once_and_what_it_lacks_is_written_down(
    gate_path: str,
) -> None:
    async with opened(gate_path, [Shelf().search]) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        await gate.catalogue.move("search", Lifecycle.RESTRICTED, by=OPERATOR, reason="doubts")
        await gate.catalogue.move("search", Lifecycle.AVAILABLE, by=OPERATOR, reason="none left")
        last = (await gate.catalogue.evidence("search", version="1", by=AUDITOR)).packs[-1]
        assert (last.held_to, last.started, last.to) == (False, Lifecycle.RESTRICTED, Lifecycle.AVAILABLE)
        assert {each.need for each in last.gate if each.stands is Standing.NOT_ASKED} >= {Need.EXAMPLES, Need.REVIEW}


@pytest.mark.parametrize("reason", ["", "  ", "fine\u202e"])
async def test_no_move_is_made_without_a_reason_that_can_be_read(reason: str) -> None:
    async with opened(":memory:", [Shelf().search]) as gate:
        for act in (gate.catalogue.freeze, gate.catalogue.release):
            with pytest.raises(MoveRefused):
                await act("search", by=OPERATOR, reason=reason)
        assert await state(gate) == ["available"]


async def test_every_move_leaves_its_evidence_which_shows_whether_it_was_changed(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        waits = await asked(gate)
        grounds = Grounds(
            reason="it saves twice", samples=("call c1",), disposition="look at it", review_on="2027-01-31"
        )
        await gate.catalogue.freeze("save", by=replace(OPERATOR, actor="root"), reason=grounds)
        await gate.catalogue.release("save", by=OPERATOR, reason="repaired")
        found = await gate.catalogue.evidence("save", version="1", by=AUDITOR)
        frozen, released = found.packs
        assert (frozen.started, frozen.to, frozen.by, frozen.actor, frozen.owner) == (
            Lifecycle.AVAILABLE,
            Lifecycle.FROZEN,
            "olga",
            "root",
            "eng",
        )
        assert (frozen.grounds, released.to) == (grounds, Lifecycle.AVAILABLE)
        impact: Any = frozen.impact.value
        assert (impact["approvals"]["named"], impact["policies"]["count"]) == ([f"acme/{waits}"], 0)
        exported = found.to_json()
        assert is_whole(exported)
        assert not is_whole(exported.replace(b"it saves twice", b"it saves once "))
        assert json.loads(exported)["contract"]["name"] == "save"
        text = found.to_markdown()
        assert "it saves twice" in text
        assert json.loads(exported)["digest"] in text
        kept = await records(gate, "tool.moved")
        assert [each["reason"] for each in kept] == ["it saves twice", "repaired"]


async def test_evidence_says_nothing_in_markdown_but_what_it_is(gate_path: str) -> None:
    async with opened(gate_path, [Shelf().search]) as gate:
        await gate.catalogue.freeze("search", by=OPERATOR, reason="# Approved\n[x](http://evil) | <b>")
        text = (await gate.catalogue.evidence("search", version="1", by=AUDITOR)).to_markdown()
        assert "\\# Approved \\[x\\](http://evil) \\| \\<b\\>" in text
        with pytest.raises(ActRefused):
            await gate.catalogue.evidence("search", version="1", by=ALICE)
        with pytest.raises((ActRefused, ToolUnknown)):
            await gate.catalogue.evidence("search", version="1", by=replace(AUDITOR, tenant="globex"))


async def test_what_is_released_goes_back_to_where_it_stood(gate_path: str) -> None:
    async with opened(gate_path, [search_of(each, version=each) for each in "123"]) as gate:
        await gate.catalogue.move("search", Lifecycle.RESTRICTED, version="2", by=OPERATOR, reason="doubts")
        await gate.catalogue.move("search", Lifecycle.QUARANTINED, version="3", by=OPERATOR, reason="unsafe")
        await gate.catalogue.freeze("search", by=OPERATOR, reason="emergency")
        assert await state(gate) == ["frozen", "frozen", "quarantined"]
        await gate.catalogue.release("search", by=OPERATOR, reason="over")
        assert await state(gate) == ["available", "restricted", "quarantined"]
        with pytest.raises(SpecInvalid, match="none is frozen"):
            await gate.catalogue.release("search", by=OPERATOR, reason="again")


async def test_a_frozen_name_stays_frozen_for_versions_that_are_published_later(gate_path: str) -> None:
    async with opened(gate_path, [search_of("one")]) as gate:
        await gate.catalogue.freeze("search", by=OPERATOR, reason="emergency")
        await gate.catalogue.register([gate._bound(search_of("two", version="2"))], by=OPERATOR)
        assert await state(gate) == ["frozen", "frozen"]
        assert code(await gate.call(search(), principal=ALICE)) == "TOOL_FROZEN"
        await gate.catalogue.release("search", version="2", by=OPERATOR, reason="it is mended there")
        assert (await gate.call(search(), principal=ALICE)).data == ["two"]
        await gate.catalogue.register([gate._bound(search_of("three", version="3"))], by=OPERATOR)
        assert await state(gate) == ["frozen", "available", "available"]


async def test_of_two_who_move_a_version_at_once_the_second_decides_on_what_the_first_made_of_it(tmp_path: Any) -> None:
    """Retired is for good, also where another process saw it frozen a moment ago."""
    path = f"{tmp_path}/gate.db"
    async with opened(path, Shelf().tools) as gate, opened(path, Shelf().tools, None) as other:
        await gate.catalogue.freeze("save", by=OPERATOR, reason="stop")
        versions = await other._world.catalogue.versions()

        async def stale() -> Any:
            other._world.catalogue.versions = real
            return versions

        real, other._world.catalogue.versions = other._world.catalogue.versions, stale
        await gate.catalogue.move("save", Lifecycle.RETIRED, by=OPERATOR, reason="gone")
        with pytest.raises(SpecInvalid, match="none is frozen"):
            await other.catalogue.release("save", by=OPERATOR, reason="over")
        assert await state(gate, "save") == ["retired"]
        assert code(await other.call(save(), principal=ALICE, task="t")) == "TOOL_RETIRED"
