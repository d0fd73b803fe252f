"""Examples run against a gate of their own: each kind of example, and nothing of the real world behind it."""

from datetime import date
from typing import Any

import pytest

from interlock.core.example import (
    Answer,
    ExampleCaller,
    ExampleHealth,
    ExampleKind,
    ExampleWorld,
    Expected,
    Reviewed,
    ToolExample,
)
from interlock.core.example_results import Passing, Rehearsed
from interlock.core.observation import Status
from interlock.core.policy import PolicySource
from interlock.core.starter_policy import STARTER_POLICY
from interlock.core.tool import Document, ErrorContract
from interlock.declare import Declared, tool
from interlock.rehearsal import Stage, rehearse
from interlock.settings import Gates, Settings

TODAY = date(2026, 11, 30)
ALICE = ExampleCaller(id="alice", groups=frozenset({"notes"}))
REAL_CALLS: list[str] = []
REVIEWED = Reviewed(by="bob")


@tool(effect="read", owner="notes", facts=["office_open"], secrets=["token"])
def read_note(title: str) -> str:
    """Read a note."""
    REAL_CALLS.append(title)
    return f"the real {title}"


@tool(effect="idempotent_write", owner="notes", key=["title"], errors=[ErrorContract("GONE", nothing_happened=True)])
def drop_note(title: str) -> bool:
    """Drop a note."""
    raise AssertionError("the real tool must never run")


@tool(effect="write", owner="notes", key=["title"], resource=("Note", "title"), compensate="drop_note")
def save_note(title: str, text: str) -> str:
    """Save a note."""
    raise AssertionError("the real tool must never run")


TOOLS: tuple[Declared[..., Any], ...] = (read_note, drop_note, save_note)
STAGE = Stage(TOOLS, (PolicySource("starter", STARTER_POLICY),), Settings(tenant="acme"))
SAVED = ExampleWorld(answers=(Answer(gives=Document.of("n1")),))
NOTE = Document.of({"title": "n1"})
FULL = Document.of({"title": "n1", "text": "hello"})


def made(tool_: str, kind: ExampleKind, status: Status, world: ExampleWorld = SAVED, **more: Any) -> ToolExample:
    expected = {name: more.pop(name) for name in (*Expected.__dataclass_fields__,) if name in more}
    plain: dict[str, Any] = {"caller": ALICE, "arguments": FULL if tool_ == "save_note" else NOTE}
    return ToolExample(
        name=kind.value,
        tool=tool_,
        kind=kind,
        world=world,
        expected=Expected(status=status, **expected),
        **{**plain, **more},
    )


async def ran(example: ToolExample, stage: Stage = STAGE) -> Rehearsed:
    return await rehearse(example, stage, today=TODAY)


FAILS = ExampleWorld(answers=(Answer(fails="TOOL_UNAVAILABLE"),))
HANGS = ExampleWorld(answers=(Answer(hangs=True),))
UNDONE = ExampleWorld(answers=SAVED.answers, others={"drop_note": (Answer(gives=Document.of(True)),)})
STRANGER = ExampleCaller(id="mallory")

RIGHT = [
    made("read_note", ExampleKind.TYPICAL, Status.OK, data=Document.of("n1"), effects=0),
    made(
        "drop_note", ExampleKind.WRONG, Status.FAILED, ExampleWorld(answers=(Answer(fails="GONE", says="gone"),)),
        approve=True, code="TOOL_ERROR", tool_code="GONE", effects=0,
    ),
    made("read_note", ExampleKind.WRONG, Status.REFUSED, code="INVALID_JSON", raw="{", arguments=Document.of({})),
    made("read_note", ExampleKind.PERMISSION_DENIED, Status.REFUSED, caller=STRANGER, code="TOOL_NOT_FOUND"),
    made(
        "read_note", ExampleKind.MISSING_ARGUMENT, Status.REFUSED, arguments=Document.of({}),
        code="TOOL_ARGUMENT_INVALID",
    ),
    made("save_note", ExampleKind.APPROVAL, Status.WAITING, code="APPROVAL_REQUIRED", roles=("approver",), effects=0),
    made("save_note", ExampleKind.APPROVAL, Status.OK, approve=True, roles=("approver",), effects=1),
    made("read_note", ExampleKind.DEGRADED, Status.FAILED, FAILS, code="TOOL_UNAVAILABLE"),
    made(
        "read_note", ExampleKind.DEGRADED, Status.FAILED, ExampleWorld(health=ExampleHealth.MAINTENANCE),
        code="TOOL_UNAVAILABLE",
    ),
    made("read_note", ExampleKind.TIMEOUT, Status.FAILED, HANGS, code="TOOL_TIMEOUT"),
    made("save_note", ExampleKind.TIMEOUT, Status.UNKNOWN, HANGS, approve=True, code="OUTCOME_UNKNOWN", effects=1),
    made("save_note", ExampleKind.REPLAY, Status.OK, approve=True, replayed=True, effects=1),
    made("save_note", ExampleKind.ROLLBACK, Status.COMPENSATED, UNDONE, approve=True, effects=2),
]  # fmt: skip


@pytest.mark.requirement("REG-8")
@pytest.mark.parametrize("example", RIGHT, ids=lambda each: f"{each.kind}-{each.expected.status}")
async def test_an_example_of_each_kind_passes_where_its_tool_does_what_it_says(example: ToolExample) -> None:
    found = await ran(example)
    assert (found.passing, found.why, found.differences) == (Passing.PASSED, "", ())


async def test_an_example_that_expects_otherwise_fails_with_each_difference() -> None:
    found = await ran(made("read_note", ExampleKind.TYPICAL, Status.OK, data=Document.of("other"), effects=1))
    assert found.passing is Passing.FAILED
    assert [str(each) for each in found.differences] == [
        "effects: expected 1, got none",
        'data: expected "other", got "n1"',
    ]


@pytest.mark.requirement("REG-8")
async def test_nothing_real_runs_and_a_world_that_is_not_declared_fails_the_example() -> None:
    REAL_CALLS.clear()
    found = await ran(made("read_note", ExampleKind.DEGRADED, Status.FAILED, ExampleWorld(), code="TOOL_UNAVAILABLE"))
    assert found.passing is Passing.FAILED
    assert "the call came to read_note" in found.why
    assert REAL_CALLS == []


async def test_a_read_that_is_a_function_runs_really_where_it_is_said() -> None:
    REAL_CALLS.clear()
    real = made("read_note", ExampleKind.TYPICAL, Status.OK, ExampleWorld(real=True), data=Document.of("the real n1"))
    assert (await ran(real)).passing is Passing.PASSED
    assert REAL_CALLS == ["n1"]


@pytest.mark.requirement("REG-8")
async def test_an_effect_never_runs_really() -> None:
    found = await ran(made("save_note", ExampleKind.TYPICAL, Status.OK, ExampleWorld(real=True), approve=True))
    assert found.passing is Passing.REFUSED
    assert "cannot be real" in found.why


@pytest.mark.requirement("REG-8")
async def test_an_older_version_that_was_an_effect_neither_runs_nor_keeps_a_read_from_running() -> None:
    @tool(effect="write", owner="notes", name="read_note", version="0", key=["title"])
    def write_note(title: str) -> str:
        """Read a note."""
        raise AssertionError("the real tool must never run")

    stage = Stage((write_note, *TOOLS), STAGE.policies, STAGE.settings)
    real = made("read_note", ExampleKind.TYPICAL, Status.OK, ExampleWorld(real=True), data=Document.of("the real n1"))
    assert (await ran(real, stage)).passing is Passing.PASSED


async def test_a_function_of_the_example_may_stand_in_for_a_handler() -> None:
    stage = Stage(TOOLS, STAGE.policies, STAGE.settings, {"fixtures:note": lambda title: f"fixed {title}"})
    world = ExampleWorld(fixture="fixtures:note")
    example = made("read_note", ExampleKind.TYPICAL, Status.OK, world, data=Document.of("fixed n1"))
    assert (await ran(example, stage)).passing is Passing.PASSED
    assert (await ran(example)).passing is Passing.REFUSED


@pytest.mark.parametrize(
    ("changes", "passing", "says"),
    [
        ({"expires": "2026-11-29"}, Passing.STALE, "expired"),
        ({"version": "9"}, Passing.STALE, "called by default"),
        ({"seen": "0" * 64}, Passing.STALE, "have changed"),
        ({"domain": "sales"}, Passing.UNREVIEWED, "nobody has reviewed"),
    ],
)
async def test_what_is_stale_or_unreviewed_does_not_run(changes: dict[str, Any], passing: Passing, says: str) -> None:
    found = await ran(made("read_note", ExampleKind.TYPICAL, Status.OK, **changes))
    assert (found.passing, says in found.why, found.is_wrong) == (passing, True, False)


async def test_an_example_of_another_domain_runs_once_it_is_reviewed() -> None:
    example = made("read_note", ExampleKind.TYPICAL, Status.OK, domain="sales", reviewed=REVIEWED)
    assert (await ran(example)).passing is Passing.PASSED


async def test_an_example_of_a_tool_that_there_is_not_fails() -> None:
    assert "no tool reed_note" in (await ran(made("reed_note", ExampleKind.TYPICAL, Status.OK))).why


async def test_facts_and_the_hour_are_those_of_the_example() -> None:
    policy = """@id("hours") permit (principal, action, resource)
        when { context.facts.office_open && context.now > datetime("2027-01-01T00:00:00Z") };"""
    stage = Stage(TOOLS, (PolicySource("hours", policy),), STAGE.settings)
    facts, later = Document.of({"office_open": True}), "2027-06-30T08:00:00Z"
    for world, status in (
        (ExampleWorld(answers=SAVED.answers, facts=facts, now=later), Status.OK),
        (ExampleWorld(answers=SAVED.answers, facts=facts), Status.REFUSED),
        (ExampleWorld(answers=SAVED.answers, now=later), Status.REFUSED),
    ):
        kind = ExampleKind.TYPICAL if status is Status.OK else ExampleKind.WRONG
        code = "" if status is Status.OK else "PERMISSION_DENIED"
        found = await ran(made("read_note", kind, status, world, code=code), stage)
        assert found.passing is Passing.PASSED, found


@pytest.mark.requirement("REG-8")
async def test_a_version_is_tried_before_the_gates_of_its_lifecycle_let_it_serve_anybody() -> None:
    stage = Stage(TOOLS, STAGE.policies, Settings(tenant="acme", lifecycle=Gates.GATED))
    assert (await ran(RIGHT[0], stage)).passing is Passing.PASSED
