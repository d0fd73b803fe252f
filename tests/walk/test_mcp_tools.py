"""MCP tools behind a whole gate: called like any other, credentials that stay in, servers that end with the gate."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import (
    Credential,
    Gate,
    Host,
    McpLookUp,
    McpServer,
    Principal,
    RetryRule,
    Status,
    ToolCall,
    Trust,
    mcp_listing,
    mcp_tool,
    program,
    tool,
)
from interlock.core.artifact import Page
from interlock.core.observation import Observation
from interlock.ports import Progressed
from tests import mcp_raw
from tests.execution import passing
from tests.gates import ALICE, ALL, code, opened, records
from tests.http_upstream import Names
from tests.mcp_upstream import Upstream, declared, over_http, over_stdio
from tests.walk.test_http_tls import NAME, certificate_of, host_trusting, serving

LOOPBACK = ["127.0.0.1"]


class Vault:
    """Credentials of each tenant."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        return {name: f"s3cret-{name}-of-{principal.tenant}" for name in names}


def act(name: str = "does_it", thing: str = "7") -> ToolCall:
    return ToolCall("c", name, {"thing": thing})


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def gone(pid: int) -> None:
    while is_alive(pid):
        await passing(0.02)


@pytest.mark.requirement("TOOL-6")
async def test_tools_of_every_kind_are_proposed_and_answered_alike(tmp_path: Path) -> None:
    @tool(effect="write", owner="eng", name="python", key=["thing"])
    async def handler(thing: str) -> dict[str, str]:
        """Act on a thing."""
        return {"thing": thing}

    shell = program(
        name="sandboxed",
        description="Act on a thing.",
        effect="read",
        command=["/usr/bin/env"],
        input_schema={"type": "object", "properties": {"thing": {"type": "string"}}},
    )
    async with over_http(tmp_path) as found:
        kinds = [handler, shell, declared(found.server), declared(over_stdio(tmp_path).server, name="started")]
        async with opened(":memory:", kinds, ALL, egress_allow=LOOPBACK) as gate:  # type: ignore[arg-type]
            for name in ("python", "does_it", "started"):
                first = await gate.call(ToolCall("c", name, {"thing": "7"}), principal=ALICE, task="t")
                again = await gate.call(ToolCall("d", name, {"thing": "7"}), principal=ALICE, task="t")
                assert (first.status, again.status, again.replayed) == (Status.OK, Status.OK, True)
                assert isinstance(first.data, dict)
                assert first.data["thing"] == "7"
                assert code(await gate.call(ToolCall("e", name, {}), principal=ALICE)) == "TOOL_ARGUMENT_INVALID"
    assert (found.lines("done", "does_it"), over_stdio(tmp_path).lines("done", "does_it")) == (1, 1)


@pytest.mark.requirement("IDEM-1", "IDEM-3", "AUD-5")
async def test_an_effect_carries_its_key_its_fence_and_its_trace(tmp_path: Path) -> None:
    async with over_http(tmp_path) as found:
        names = {"read": "looks", "write": "acts"}
        tools = [declared(found.server, "says_what_it_got", effect, name=name) for effect, name in names.items()]
        tools.append(declared(found.server, "says_what_it_got", name="named", key_meta="x/key", fence_meta=""))
        async with opened(":memory:", tools, ALL, egress_allow=LOOPBACK) as gate:
            seen: dict[str, Any] = {
                each: (await gate.call(act(each), principal=ALICE, task="t")).data
                for each in ("looks", "acts", "named")
            }
    metas = {name: each["meta"] for name, each in seen.items()}
    assert all(meta["traceparent"].startswith("00-") for meta in metas.values())
    assert len(metas["acts"]["interlock/idempotency-key"]) == 64
    assert metas["acts"]["interlock/fence"] >= 1
    assert not {"interlock/idempotency-key", "interlock/fence"} & metas["looks"].keys()
    assert len(metas["named"]["x/key"]) == 64
    assert "interlock/fence" not in metas["named"]
    assert seen["acts"]["headers"]["mcp-param-thing"] == "7"


@pytest.mark.requirement("EXEC-8")
async def test_credentials_reach_the_server_alone_and_sessions_are_each_tenants_own(tmp_path: Path) -> None:
    given = (Credential("token"), Credential("key", "header", "X-Api-Key"))  # type: ignore[arg-type]
    local = over_stdio(tmp_path, secret_environment={"API_TOKEN": "token"}, environment={"MODE": "x"})
    bea = Principal("other", "bea")
    async with over_http(tmp_path, credentials=given) as found:
        tools = [
            declared(found.server, "says_what_it_got", "read", name="remote"),
            declared(local.server, "says_what_it_got", "read", name="local"),
        ]
        async with opened(":memory:", tools, ALL, host=Host(secrets=Vault()), egress_allow=LOOPBACK) as gate:
            remote = await gate.call(act("remote"), principal=ALICE)
            mine, again = [await gate.call(act("local"), principal=ALICE) for _ in range(2)]
            theirs = await gate.call(act("local"), principal=bea)
            kept = await records(gate)
    shown = {name: each.data for name, each in (("remote", remote), ("mine", mine), ("theirs", theirs))}
    assert "s3cret" not in f"{shown}{kept}"
    headers: Any = remote.data
    assert headers["headers"]["x-api-key"] == "[redacted]"
    started: Any = mine.data
    assert started["environment"].keys() <= {"HOME", "LANG", "PATH", "MODE", "API_TOKEN", "LC_CTYPE"}
    assert started["environment"]["API_TOKEN"] == "[redacted]"
    others: Any = theirs.data
    same: Any = again.data
    assert started["pid"] == same["pid"] != others["pid"]


async def test_what_a_server_says_is_data_that_nobody_trusts(tmp_path: Path) -> None:
    async with over_http(tmp_path) as found:
        tools = [declared(found.server, each, "read") for each in ("does_it", "fails")]
        async with opened(":memory:", tools, ALL, egress_allow=LOOPBACK) as gate:
            said = await gate.call(act(), principal=ALICE)
            failed = await gate.call(act("fails"), principal=ALICE)
    assert said.labels is not None
    assert (said.labels.trust, said.labels.origins) == (Trust.UNTRUSTED, {found.server.url.removesuffix("/mcp")})
    assert failed.error is not None
    assert failed.error.message == "fails says that it failed."


@pytest.mark.requirement("OBS-4", "OBS-6")
async def test_texts_pictures_and_files_come_as_from_any_other_tool(tmp_path: Path) -> None:
    async with over_http(tmp_path) as found:
        names = ("a_picture", "many_blocks", "a_long_text")
        tools = [declared(found.server, each, "read", output_bytes_max=8_192) for each in names]
        async with opened(":memory:", tools, ALL, egress_allow=LOOPBACK) as gate:
            seen = {each: await gate.call(act(each), principal=ALICE) for each in names}
            handle = seen["a_long_text"].handle or ""
            rest = await gate.results.read(handle, by=ALICE, offset=150_000)
    picture: Any = seen["a_picture"].data
    assert (picture["media_type"], picture["size_bytes"]) == ("image/png", 12)
    many: Any = seen["many_blocks"].data
    assert many[0] == "two files"
    assert [each["media_type"] for each in many[1:]] == ["image/png", "application/zip"]
    assert all(seen[each].handle for each in names)
    assert seen["a_long_text"].truncated == 200_000
    assert isinstance(rest, Page)
    assert rest.text.startswith("line")


@pytest.mark.requirement("IDEM-3")
async def test_a_lost_effect_is_found_again_by_its_look_up(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    async with over_http(tmp_path) as found:
        look_up = McpLookUp("does_it", {"thing": "thing"}, not_happened=("isError",))
        missing = McpLookUp("fails", {"thing": ""}, not_happened=("isError",))
        tools = [
            declared(found.server, "breaks_down_after", reconcile=look_up),
            declared(found.server, "bad_params_after", reconcile=missing),
        ]
        async with opened(path, tools, ALL, egress_allow=LOOPBACK) as gate:
            for each in tools:
                assert code(await gate.call(act(each.name), principal=ALICE, task="t")) == "OUTCOME_UNKNOWN"
            await gate.recovery.recover()
            there = await gate.call(act("breaks_down_after"), principal=ALICE, task="t")
            assert (there.status, there.replayed) == (Status.OK, True)
            free = await gate.call(act("bad_params_after"), principal=ALICE, task="t")
            assert free.replayed is False
    assert found.lines("sent", "breaks_down_after") == 1


@pytest.mark.requirement("EXEC-1")
@pytest.mark.parametrize("era", ["old", "new"])
async def test_a_call_that_is_cancelled_is_cancelled_at_its_server_and_leaves_nothing(era: str, tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    async with over_http(tmp_path, era) as found:
        local = over_stdio(tmp_path, era)
        tools = [declared(each.server, "hangs_after", name=name) for name, each in (("far", found), ("near", local))]
        async with opened(":memory:", tools, ALL, egress_allow=LOOPBACK) as gate:
            for name, each in (("far", found), ("near", local)):
                await _cancelled(gate, name, at=each)
    assert asyncio.all_tasks() <= before


@pytest.mark.requirement("EXEC-1")
@pytest.mark.parametrize("era", ["old", "new"])
async def test_a_call_whose_time_is_up_is_cancelled_at_its_server(era: str, tmp_path: Path) -> None:
    async with over_http(tmp_path, era) as found:
        local = over_stdio(tmp_path, era)
        tools = [
            declared(each.server, "hangs_after", "read", name=name, timeout_ms=400, retry=RetryRule(1))
            for name, each in (("far", found), ("near", local))
        ]
        tools += [declared(each.server, name=name) for name, each in (("far_first", found), ("near_first", local))]
        async with opened(":memory:", tools, ALL, egress_allow=LOOPBACK) as gate:
            for name, each in (("far", found), ("near", local)):
                assert code(await gate.call(act(f"{name}_first"), principal=ALICE, task="t")) == "ok"
                assert code(await gate.call(act(name), principal=ALICE)) == "TOOL_TIMEOUT"
                await _until(each, "cancelled")


@pytest.mark.requirement("TOOL-6")
async def test_a_host_that_looks_on_is_told_how_far_a_call_is() -> None:
    told: list[Progressed] = []

    class Seen:
        def progressed(self, made: Progressed) -> None:
            told.append(made)

    server = McpServer(command=(sys.executable, mcp_raw.__file__, "tells_how_far"))
    made = mcp_tool(name="go", description="Go.", effect="read", server=server, tool="tool1", input_schema=mcp_raw.GOOD)
    async with opened(":memory:", [made], ALL, host=Host(onlooker=Seen())) as gate:
        seen = await gate.call(ToolCall("c7", "go", {"thing": "7"}), principal=ALICE)
    assert seen.status is Status.OK
    assert [(each.tool, each.call_id, each.done) for each in told] == [("go", "c7", 1), ("go", "c7", 2)]
    assert told[0].words == "half of it"
    assert {each.operation_id for each in told} == {seen.operation_id}


async def _cancelled(gate: Gate, name: str, *, at: Upstream) -> None:
    work = asyncio.ensure_future(gate.call(act(name), principal=ALICE, task="t"))
    await _until(at, "done")
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    await _until(at, "cancelled")


async def _until(found: Upstream, what: str) -> None:
    while not found.lines(what, "hangs_after"):
        await passing(0.02)


@pytest.mark.requirement("EXEC-5")
async def test_a_server_that_died_is_started_again_and_the_last_one_ends_with_the_gate(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    local = over_stdio(tmp_path)
    tools = [declared(local.server, each, "read") for each in ("says_what_it_got", "dies_after")]
    async with opened(":memory:", tools, ALL) as gate:
        one = await _pid(gate)
        assert code(await gate.call(act("dies_after"), principal=ALICE)) == "TOOL_UNAVAILABLE"
        two = await _pid(gate)
        assert one != two
        assert not is_alive(one)
        assert is_alive(two)
    assert not is_alive(two)
    assert "it said: I was told to." in caplog.text


async def _pid(gate: Any) -> int:
    seen: Any = (await gate.call(act("says_what_it_got"), principal=ALICE)).data
    return int(seen["pid"])


@pytest.mark.requirement("EXEC-5")
async def test_a_server_ends_with_a_gate_that_is_killed(tmp_path: Path) -> None:
    script = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from interlock import ToolCall
from tests.gates import ALICE, ALL, opened
from tests.http_upstream import Names
from tests.mcp_upstream import declared, over_stdio
async def main():
    tools = [declared(over_stdio(Path(sys.argv[2])).server, "says_what_it_got", "read")]
    async with opened(":memory:", tools, ALL) as gate:
        seen = await gate.call(ToolCall("c", "says_what_it_got", {"thing": "7"}), principal=ALICE)
        print(seen.data["pid"], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    root, pipe = str(Path(__file__).parents[2]), asyncio.subprocess.PIPE
    done = await asyncio.create_subprocess_exec(sys.executable, "-c", script, root, str(tmp_path), stdout=pipe)
    assert done.stdout is not None
    pid = int(await done.stdout.readline())
    await done.wait()
    await gone(pid)


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("trusted", [True, False])
async def test_a_server_is_who_its_certificate_says_or_is_told_nothing(trusted: bool, tmp_path: Path) -> None:
    certificate = certificate_of(NAME, tmp_path)
    async with serving(certificate) as (port, asked, requests):
        host = host_trusting(certificate) if trusted else Host(resolver=Names(["127.0.0.1"]))
        tools = [declared(McpServer(url=f"https://{NAME}:{port}/mcp"))]
        async with opened(":memory:", tools, ALL, host=host, egress_allow=LOOPBACK) as gate:
            seen = await gate.call(act(), principal=ALICE, task="t")
    assert (code(seen), seen.status) == ("TOOL_UNAVAILABLE", Status.FAILED)
    assert trusted or not seen.retryable
    assert seen.error is not None
    assert ("certificate" in seen.error.message) is not trusted
    assert bool(requests) is trusted
    assert asked[0] == NAME
    assert all(f"Host: {NAME}:{port}\r\n".encode() in each for each in requests)


@pytest.mark.requirement("REG-1")
async def test_who_the_server_is_belongs_to_the_tool(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text("one")
    server = McpServer(command=("python3", "server.py"), folder=str(tmp_path))
    before = declared(server).spec()
    script.write_text("two")
    after = declared(server).spec()
    assert before.handler.fingerprint != after.handler.fingerprint
    origins = [declared(McpServer(url=f"https://{host}.example.com/mcp")).spec() for host in ("a", "b")]
    assert origins[0].handler.fingerprint != origins[1].handler.fingerprint


@pytest.mark.requirement("IDEM-3", "EXEC-2")
async def test_many_at_once_share_a_session_and_each_is_done_once(tmp_path: Path, gate_path: str) -> None:
    async with over_http(tmp_path) as found:
        local = over_stdio(tmp_path)
        tools = [declared(found.server, name="far"), declared(local.server, name="near")]
        async with opened(gate_path, tools, ALL, egress_allow=LOOPBACK) as gate:

            async def client(number: int) -> list[Observation]:
                """Each operation is delivered twice at once, and proposed again after it."""
                name, thing = ("far", "near")[number % 2], f"t{number % 20}"
                twice = [gate.call(act(name, thing), principal=ALICE, task="t") for _ in range(2)]
                return [*await asyncio.gather(*twice), await gate.call(act(name, thing), principal=ALICE, task="t")]

            seen = await asyncio.gather(*map(client, range(40)))
    assert all(each[-1].status is Status.OK for each in seen)
    for number in range(20):
        assert (found, local)[number % 2].lines("done", "does_it", f"t{number}") == 1


@pytest.mark.requirement("TOOL-6")
async def test_tools_are_declared_from_what_their_server_lists(tmp_path: Path) -> None:
    async with over_http(tmp_path) as found:
        listed = await mcp_listing(found.server, egress_allow=LOOPBACK)
        names = [each.name for each in listed]
        assert names == sorted(names)
        assert len(names) > 20
        one = next(each for each in listed if each.name == "does_it")
        made = mcp_tool(name="do", description="Do it.", effect="write", server=found.server, listed=one, key=["thing"])
        async with opened(":memory:", [made], ALL, egress_allow=LOOPBACK) as gate:
            seen = await gate.call(ToolCall("c", "do", {"thing": "7"}), principal=ALICE, task="t")
    assert seen.status is Status.OK
    assert made.spec().description == "Do it."


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("async with interlock.Gate.open(): print('mcp' in sys.modules)", "False"),
        (
            "sys.modules['mcp'] = None\n    try: interlock.mcp_listing\n    except AttributeError as no: print(no)",
            "MCP tools need an extra: pip install 'interlock[mcp]'",
        ),
    ],
)
async def test_what_needs_the_extra_is_not_loaded_without_need_and_says_so_where_it_is_missing(
    program: str, said: str
) -> None:
    whole = f"import asyncio, sys, interlock\nasync def main():\n    {program}\nasyncio.run(main())"
    done = await asyncio.create_subprocess_exec(sys.executable, "-c", whole, stdout=asyncio.subprocess.PIPE)
    out, _ = await done.communicate()
    assert out.decode().strip() == said
