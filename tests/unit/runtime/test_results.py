"""Results that are too long to be shown: kept whole, read back by who may, and forgotten with the rest."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest

from interlock import Binary, Deny, Gate, Host, Observation, Principal, ToolCall, tool
from interlock.core.artifact import PART_BYTES, Page
from tests.gates import ALICE, ALL, BOB, OPERATOR, AnyTool, opened, records

pytestmark = [pytest.mark.requirement("OBS-4")]

LINES = [f"line {number} of 漢字 {'x' * 50}" for number in range(20_000)]
ONE = "alice's policy: permit only her"
ONLY_ALICE = '@id("a") permit (principal == User::"alice", action, resource);'


def log(lines: Sequence[str] = LINES, **options: Any) -> AnyTool:
    @tool(effect="read", owner="eng", output_bytes_max=1_000, **options)
    async def read_log(name: str) -> list[str]:
        """Read a log."""
        return list(lines)

    return read_log


async def long(gate: Gate, *, by: Principal = ALICE) -> Observation:
    return await gate.call(ToolCall("c1", "read_log", {"name": "a"}), principal=by, task="t")


async def whole(gate: Gate, handle: str, *, by: Principal = ALICE) -> str:
    """All pages."""
    text, offset = "", 0
    while True:
        found = await gate.results.read(handle, by=by, offset=offset)
        assert isinstance(found, Page), found
        text += found.text
        if found.next_offset is None:
            return text
        offset = found.next_offset


async def test_what_is_cut_is_kept_whole_and_read_back_page_by_page(gate_path: str) -> None:
    async with opened(gate_path, (log(),)) as gate:
        seen = await long(gate)
        assert seen.handle is not None
        assert seen.data_json is not None
        assert len(seen.data_json) <= 1_000
        assert json.loads(await whole(gate, seen.handle)) == LINES
        assert seen.truncated == len(json.dumps(LINES, ensure_ascii=False, separators=(",", ":")).encode())
        assert "handle" in seen.hint
        assert (await records(gate, "result.read"))[0]["handle"] == seen.handle


async def test_it_is_searched_and_read_at_a_place_in_its_json(gate_path: str) -> None:
    async with opened(gate_path, (log(),)) as gate:
        handle = str((await long(gate)).handle)
        found = await gate.results.search(handle, "line 19999 ", by=ALICE)
        assert isinstance(found, tuple)
        assert ["line 19999 of" in each.excerpt for each in found] == [True]
        assert await gate.results.part(handle, "/7", by=ALICE) == {"value": LINES[7]}
        some = await gate.results.part(handle, by=ALICE, start=100, count=2)
        assert some == {"items": LINES[100:102], "start": 100, "of": 20_000}
        assert isinstance(await gate.results.part(handle, by=ALICE, count=20_000), Deny)
        assert isinstance(await gate.results.part(handle, "/x", by=ALICE), Deny)


async def test_what_is_short_enough_has_no_handle() -> None:
    async with opened(":memory:", (log(["a"]),)) as gate:
        seen = await long(gate)
        assert (seen.handle, seen.truncated, seen.data) == (None, None, ["a"])


async def test_it_is_read_by_who_might_make_the_same_call_today_and_by_nobody_else() -> None:
    async with opened(":memory:", (log(),), ONLY_ALICE) as gate:
        handle = str((await long(gate)).handle)
        assert isinstance(await gate.results.read(handle, by=ALICE), Page)
        for other in (BOB, Principal("umbrella", "alice", groups=ALICE.groups)):
            assert isinstance(await gate.results.read(handle, by=other), Deny)
            assert isinstance(await gate.results.search(handle, "line", by=other), Deny)
            assert isinstance(await gate.results.part(handle, by=other), Deny)
        [source] = await gate.policies.sources()
        text = ALL + '@id("no") forbid (principal == User::"alice", action, resource);'
        await gate.policies.save([type(source)(source.name, text)], by=OPERATOR)
        assert isinstance(await gate.results.read(handle, by=ALICE), Deny)


async def test_a_secret_in_it_is_kept_nowhere(gate_path: str) -> None:
    lines = [*LINES[:500], "the password is hunter2-hunter2", *LINES[:500]]
    async with opened(gate_path, (log(lines),), secrets=("hunter2-hunter2",)) as gate:
        assert "hunter2" not in await whole(gate, str((await long(gate)).handle))


async def test_what_policy_hides_today_is_hidden_in_what_was_kept_before() -> None:
    @tool(effect="read", owner="eng", output_bytes_max=1_000)
    async def read_log(name: str) -> dict[str, str]:
        """Read a log."""
        return {"shown": "s" * 2_000, "salary": "12345"}

    async with opened(":memory:", (read_log,)) as gate:
        handle = str((await long(gate)).handle)
        assert "12345" in await whole(gate, handle)
        [source] = await gate.policies.sources()
        text = '@id("a") @redact("salary") permit (principal, action, resource);'
        await gate.policies.save([type(source)(source.name, text)], by=OPERATOR)
        told = await whole(gate, handle)
        assert ("12345" in told, "shown" in told) == (False, True)
        assert "12345" not in str(await gate.results.search(handle, "12345", by=ALICE))
        assert "12345" not in str(await gate.results.part(handle, "/salary", by=ALICE))


async def test_purging_forgets_it(gate_path: str) -> None:
    async with opened(gate_path, (log(),)) as gate:
        handle = str((await long(gate)).handle)
        await gate.audit.purge(gate._world.clock.now_us() + 1, by=OPERATOR)
        assert isinstance(await gate.results.read(handle, by=ALICE), Deny)
        assert await gate._world.artifacts.part("acme", handle, number=0) is None


async def test_a_replay_gives_the_handle_too_unless_it_may_not_be_seen() -> None:
    @tool(effect="write", owner="eng", key=["name"], output_bytes_max=1_000)
    async def read_log(name: str) -> list[str]:
        """Make a log."""
        return LINES[:100]

    async with opened(":memory:", (read_log,)) as gate:
        handle = (await long(gate)).handle
        again = await long(gate)
        assert (again.replayed, again.handle) == (True, handle)


@tool(effect="read", owner="eng", name="read_log", output_bytes_max=1_000)
async def rows(name: str) -> AsyncIterator[dict[str, object]]:
    """Read rows, one after the other."""
    for number in range(200):
        yield {"name": f"p{number}", "salary": 777_000 + number}


@tool(effect="read", owner="eng", name="read_log")
async def document(name: str) -> Binary:
    """Read a document."""
    return Binary(json.dumps([{"name": "p0", "salary": 777_000}]).encode(), "application/json; charset=utf-8")


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("reader", [rows, document])
async def test_what_policy_hides_is_hidden_in_texts_too(reader: AnyTool, monkeypatch: pytest.MonkeyPatch) -> None:
    hides = '@id("a") @redact("salary") permit (principal, action, resource);'
    async with opened(":memory:", (reader,), hides) as gate:
        handle = str((await long(gate)).handle)
        told = await whole(gate, handle)
        assert ("777" in told, '"p0"' in told) == (False, True)
        assert b"777" not in bytes(await gate.results.raw(handle, by=ALICE, offset=20))  # type: ignore[arg-type]
        assert await gate.results.search(handle, "777", by=ALICE) == ()
        monkeypatch.setattr("interlock.runtime.results.LOOKED_THROUGH_MAX", 10)
        assert isinstance(await gate.results.read(handle, by=ALICE), Deny)


@pytest.mark.requirement("OBS-5", "EXEC-8")
@pytest.mark.parametrize("media_type", ["image/png", "application/octet-stream", "text/plain"])
async def test_a_secret_in_bytes_is_kept_nowhere(media_type: str) -> None:
    @tool(effect="read", owner="eng")
    async def read_log(name: str) -> Binary:
        """Give back what it was told."""
        return Binary(b"\x89PNG\xff hunter2-hunter2 \xff", media_type)

    async with opened(":memory:", (read_log,), secrets=("hunter2-hunter2",)) as gate:
        data = await gate.results.raw(str((await long(gate)).handle), by=ALICE)
        assert data == b"\x89PNG\xff [redacted] \xff"


async def test_what_is_purged_while_it_is_read_is_gone_and_nothing_is_shifted(
    gate_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(gate_path, (log(),)) as gate:
        handle, artifacts = str((await long(gate)).handle), gate._world.artifacts
        part = artifacts.part

        async def first_is_gone(tenant: str, artifact_id: str, *, number: int) -> bytes | None:
            return await part(tenant, artifact_id, number=number) if number else None

        monkeypatch.setattr(artifacts, "part", first_is_gone)
        assert isinstance(await gate.results.read(handle, by=ALICE, offset=PART_BYTES), Page)
        for found in (
            await gate.results.read(handle, by=ALICE, offset=PART_BYTES - 10),
            await gate.results.raw(handle, by=ALICE, offset=PART_BYTES - 10),
            await gate.results.search(handle, "line", by=ALICE),
            await gate.results.part(handle, by=ALICE),
        ):
            assert isinstance(found, Deny)


async def test_what_came_of_somebodys_own_credentials_is_theirs_alone() -> None:
    class Safe:
        async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
            return {"token": f"token-of-{principal.id}"}

    async with opened(":memory:", (log(secrets=["token"]),), host=Host(secrets=Safe())) as gate:
        handle = str((await long(gate)).handle)
        assert isinstance(await gate.results.read(handle, by=ALICE), Page)
        assert isinstance(await gate.results.read(handle, by=BOB), Deny)
        assert await gate.results.labels(handle, by=BOB) is None
