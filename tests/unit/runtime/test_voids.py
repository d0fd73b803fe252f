"""An approval whose operation may not run any more is offered to nobody, and that is on record with the reason."""

import pytest

from interlock.core.lifecycle import Lifecycle
from tests.gates import ALICE, ASKS, BOB, OPERATOR, Shelf, asked, code, granted, opened, records, save

pytestmark = pytest.mark.requirement("REG-7")


async def test_what_waits_for_a_retired_version_is_void_with_the_reason_and_nothing_else_is(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, ASKS) as gate:
        waits, given = await asked(gate), await granted(gate, save("n2"))
        done = await granted(gate, save("n3"))
        assert code(await gate.approvals.resume(done, by=ALICE)) == "ok"
        await gate.catalogue.move("save", Lifecycle.RETIRED, by=OPERATOR, reason="gone")
        states = {each.id: each.state.value for each in await gate.approvals.list(by=OPERATOR)}
        assert states == {waits: "void", given: "void", done: "used"}
        void = await records(gate, "approval.void")
        assert {(each["subject"], each["note"]) for each in void} == {
            (waits, "retired: gone"),
            (given, "retired: gone"),
        }
        assert code(await gate.approvals.approve(waits, by=BOB)) == "APPROVAL_MISMATCH"
