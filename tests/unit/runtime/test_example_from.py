"""A real call as an example: who may read the log may, that is on record, and secrets never get into it."""

from typing import Any

import pytest

from interlock.core.call import Principal, ToolCall
from interlock.core.decision import Deny
from interlock.core.example import ExampleKind, ToolExample, plain
from interlock.core.refusals import Code
from interlock.core.tool import Document
from interlock.declare import tool
from tests.gates import ALICE, ALL, ASKS, AUDITOR, OPERATOR, Shelf, asked, opened, records, save, search

SECRET = "AKIAIOSFODNN7EXAMPLE"


async def taken(gate: Any, id_: str) -> ToolExample:
    found = await gate.examples.example_of(id_, by=AUDITOR)
    assert isinstance(found, ToolExample), found
    return found


@pytest.mark.requirement("REG-8")
async def test_a_call_by_its_id_or_its_operation_becomes_an_example_and_that_is_on_record(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, ALL) as gate:
        seen = await gate.call(save("n1", "hello"), principal=ALICE, task="t")
        assert seen.operation_id is not None
        found = await taken(gate, seen.operation_id)
        assert (found.tool, found.kind, found.arguments) == (
            "save", ExampleKind.TYPICAL, Document.of({"note": "n1", "text": "hello"})
        )  # fmt: skip
        assert (found.caller.id, found.caller.groups, found.expected.effects) == ("alice", frozenset({"eng"}), 1)
        assert (await taken(gate, "c1")).digest == found.digest
        [first, _] = await records(gate, "example.taken")
        assert (first["principal"], first["subject"]) == ("audrey", seen.operation_id)


@pytest.mark.requirement("REG-8")
async def test_who_may_not_read_the_log_gets_no_example_and_no_word_of_it(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        await gate.call(search("x"), principal=ALICE)
        found = await gate.examples.example_of("c1", by=ALICE)
        assert isinstance(found, Deny)
        assert found.code is Code.PERMISSION_DENIED
        assert await records(gate, "example.taken") == []
        missing = await gate.examples.example_of("none", by=AUDITOR)
        assert isinstance(missing, Deny)
        other = await gate.examples.example_of("c1", by=Principal("globex", "eve", groups=AUDITOR.groups))
        assert isinstance(other, Deny)


@pytest.mark.requirement("REG-8")
@pytest.mark.parametrize("padding", ["", "long " * 1_000], ids=["short", "long"])
async def test_no_secret_gets_into_an_example_however_long_its_arguments_are(gate_path: str, padding: str) -> None:
    async with opened(gate_path, Shelf().tools, ALL) as gate:
        text = f"{padding}the key is {SECRET}"
        await gate.call(save("n1", text), principal=ALICE, task="t")
        said = str(plain(await taken(gate, "c1")))
        assert SECRET not in said
        assert "n1" in said
        assert any("was hidden" in each for each in (await taken(gate, "c1")).remarks)


async def test_fields_that_policy_has_redacted_stay_hidden_also_where_they_are_read_from_what_is_kept_whole() -> None:
    policy = '@id("hide") @redact("text") permit (principal, action, resource);'
    async with opened(":memory:", Shelf().tools, policy) as gate:
        await gate.call(save("n" * 3_000, "private"), principal=ALICE, task="t")
        said = str(plain(await taken(gate, "c1")))
        assert "n" * 3_000 in said
        assert "private" not in said


@pytest.mark.requirement("REG-8")
async def test_what_was_purged_is_said_to_be_missing() -> None:
    async with opened(":memory:", Shelf().tools, ALL) as gate:
        await gate.call(save("n1", "long " * 1_000), principal=ALICE, task="t")
        await gate.audit.purge(2**62, by=OPERATOR)
        found = await taken(gate, "c1")
        assert found.arguments == Document.of({})
        assert any("arguments are not kept any more" in each for each in found.remarks)


async def test_a_question_that_waits_is_an_example_of_an_approval() -> None:
    async with opened(":memory:", Shelf().tools, ASKS) as gate:
        approval = await asked(gate)
        found = await taken(gate, approval)
        assert (found.kind, found.approve, found.caller.groups) == (ExampleKind.APPROVAL, False, frozenset({"eng"}))


async def test_arguments_that_make_no_operation_are_an_example_too() -> None:
    @tool(effect="read", owner="eng")
    async def login(password: str) -> str:
        """Log in."""
        return password

    async with opened(":memory:", [login], ALL) as gate:
        await gate.call(ToolCall("c9", "login", {"passwort": "hunter2-hunter2"}), principal=ALICE)
        found = await taken(gate, "c9")
        assert (found.kind, found.tool) == (ExampleKind.MISSING_ARGUMENT, "login")
