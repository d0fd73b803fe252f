"""How a call of a program ends: with files, errors of its contract, at a deadline, cancelled, with its gate."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from interlock import ErrorContract, Host, Principal, ToolCall
from interlock.core.program import Program, SandboxLimits
from interlock.runners.sandbox_command import Contents, Machine, launch_of
from interlock.runners.sandbox_keeper import Keeper
from interlock.runners.sandbox_probe import find_machine
from interlock.runners.sandbox_process import sealed, start_sandbox
from tests.execution import passing
from tests.gates import ALICE, used
from tests.sandbox.programs import PYTHON, Written, attempt, call, command_line, descriptors, gate_of, message, value

pytestmark = pytest.mark.requirement("EXEC-7")

SLOW = "import time\nwhile True: time.sleep(100)"
ROOT = Path(__file__).resolve().parents[2]


class Vault:
    """Credentials for anybody."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        return {name: f"{name}-of-{principal.tenant}-7f3a9c" for name in names}


async def test_the_program_gets_the_bytes_that_were_authorized(tmp_path: Path) -> None:
    source = """
        import json, sys
        sys.stdout.write(json.dumps(sys.stdin.read()))
    """
    seen = await attempt(Written(tmp_path, source), {"b": 2.0, "a": ["é", 10**20]})
    assert value(seen) == '{"a":["é",100000000000000000000],"b":2}'


async def test_stdin_can_be_opened_again(tmp_path: Path) -> None:
    assert value(await attempt(Written(tmp_path, "print(open('/dev/stdin').read())"), {"a": 1})) == {"a": 1}


async def test_an_exit_code_means_the_error_that_the_contract_says(tmp_path: Path) -> None:
    errors = [ErrorContract("MISSING", description="There is no such page.")]
    written = Written(tmp_path, "import sys; print('x'); sys.exit(3)", exit_codes={3: "MISSING"}, errors=errors)
    seen = await attempt(written)
    assert message(seen) == ("TOOL_ERROR", "There is no such page.")
    assert seen.error is not None
    assert seen.error.details["tool_code"] == "MISSING"


@pytest.mark.requirement("EXEC-5")
async def test_what_it_says_on_stderr_is_only_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    seen = await attempt(Written(tmp_path, "import sys; sys.exit('inner words ' + 'x' * 100_000)"))
    assert message(seen) == ("TOOL_EXCEPTION", "attack ended with the exit code 1.")
    assert b"inner words" not in repr(seen).encode()
    (record,) = [each for each in caplog.records if each.name == "interlock.tools"]
    assert len(record.getMessage()) < 10_000


@pytest.mark.requirement("EXEC-8")
async def test_a_secret_reaches_the_program_and_nobody_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="interlock.tools")
    source = """
        import os, sys, time, json
        print("said " + os.environ["TOKEN"], file=sys.stderr)
        print(json.dumps([os.environ["TOKEN"][:5], os.environ["TOKEN"]]), flush=True)
        os.close(1)
        time.sleep(0.3)
    """
    written = Written(tmp_path, source, secret_environment={"TOKEN": "api_token"})
    lines: list[bytes] = []
    async with gate_of(written, host=Host(secrets=Vault())) as gate:
        calling = asyncio.ensure_future(call(gate))
        while not calling.done():
            lines += map(command_line, written.left)
            await asyncio.wait([calling], timeout=0.01)
        seen = await calling
    assert value(seen)[0] == "api_t"
    secret = "api_token-of-acme-7f3a9c"
    assert lines
    assert secret.encode() not in b"".join(lines)
    assert secret not in repr(seen)
    assert "said" in caplog.text
    assert secret not in caplog.text


async def test_a_program_file_that_was_changed_is_not_run(tmp_path: Path) -> None:
    written = Written(tmp_path, "print(1)")
    async with gate_of(written) as gate:
        assert value(await call(gate)) == 1
        (tmp_path / "attack.py").write_text("print(2)")
        seen = await call(gate)
    assert message(seen) == (
        "TOOL_UNAVAILABLE",
        "attack cannot be started: attack.py is not the file that was declared.",
    )


async def test_files_go_in_by_name_and_come_out_by_handle(tmp_path: Path) -> None:
    (tmp_path / "in" / "acme").mkdir(parents=True)
    (tmp_path / "in" / "acme" / "page.txt").write_text("seven words")
    source = """
        import json, sys
        name = json.load(sys.stdin)["page"]
        text = open("/in/page").read()
        open("/out/upper.txt", "w").write(text.upper())
        open("/out/bomb.zip", "wb").write(b"PK")
        print(json.dumps({"read": name}))
    """
    written = Written(
        tmp_path / "program",
        source,
        effect="write",
        input_schema={"type": "object", "properties": {"page": {"type": "string"}}},
        output_schema={"type": "object", "properties": {"read": {"type": "string"}}},
        files_in={"page": str(tmp_path / "in" / "{tenant}")},
        files_out=str(tmp_path / "out" / "{tenant}"),
    )
    found = value(await attempt(written, {"page": "page.txt"}))
    assert found["result"] == {"read": "page.txt"}
    assert [each["name"] for each in found["files"]] == ["bomb.zip", "upper.txt"]
    handle = tmp_path / "out" / "acme" / found["files"][1]["handle"]
    assert (handle.read_text(), found["files"][1]["bytes"]) == ("SEVEN WORDS", 11)


@pytest.mark.parametrize("path", ["../secret.txt", "link.txt", "/etc/passwd", "none.txt"])
async def test_a_file_that_is_not_in_the_folder_does_not_go_in(tmp_path: Path, path: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "secret.txt")
    schema = {"type": "object", "properties": {"page": {"type": "string"}}}
    written = Written(tmp_path, "print(1)", input_schema=schema, files_in={"page": str(tmp_path / "in")})
    assert message(await attempt(written, {"page": path}))[0] == "TOOL_ARGUMENT_INVALID"


@pytest.mark.parametrize(
    "trick",
    [
        "os.symlink('/etc/passwd', '/out/a')",
        "os.symlink('/proc/self/environ', '/out/a')",
        "open('/out/a', 'w').write('x'); os.link('/out/a', '/out/b')",
        "os.link('/usr/bin/env', '/out/a')",
        "os.mkfifo('/out/a')",
        "os.mkdir('/out/a')",
        "open('/out/a\\nb', 'w')",
        "open('/out/.bashrc', 'w')",
        "[open(f'/out/{each}', 'w') for each in range(17)]",
        "os.truncate(os.open('/out/a', os.O_CREAT | os.O_RDWR), 10**13)",
        "[open(f'/out/{each}', 'wb').write(bytes(1 << 20)) for each in range(8)]",
    ],
)
async def test_a_trick_in_out_gives_nothing_and_leaves_nothing(tmp_path: Path, trick: str) -> None:
    source = f"import os\n{trick}\nprint(1)"
    limits = SandboxLimits(files_bytes=4 << 20)
    out = tmp_path / "out"
    seen = await attempt(Written(tmp_path / "program", source, effect="write", files_out=str(out), limits=limits))
    assert message(seen)[0] in ("TOOL_EXCEPTION", "OUTPUT_INVALID")
    assert seen.status.value == "failed"
    assert not out.exists()


async def test_a_socket_in_out_is_passed_over(tmp_path: Path) -> None:
    source = "import socket\nsocket.socket(socket.AF_UNIX).bind('/out/a')\nprint(1)"
    seen = await attempt(Written(tmp_path / "program", source, files_out=str(tmp_path / "out")))
    assert value(seen) == {"files": [], "result": 1}


async def test_a_program_that_writes_to_the_channel_itself_gets_nothing_by_it(tmp_path: Path) -> None:
    source = """
        import os
        for each in os.listdir("/proc"):
            for number in range(10):
                try:
                    os.write(os.open(f"/proc/{each}/fd/{number}", os.O_WRONLY), b"s" * 2048)
                except OSError:
                    pass
    """
    out = tmp_path / "out"
    seen = await attempt(Written(tmp_path / "program", source, files_out=str(out)))
    assert seen.error is not None
    assert not out.exists()


async def test_no_secret_in_why_files_cannot_be_kept_reaches_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "AKIAIOSFODNN7EXAMPLE").write_text("a file where the folder was to be")
    source = 'open("/out/a.txt", "w").write("x"); print("1")'
    folder = tmp_path / "AKIAIOSFODNN7EXAMPLE" / "out"
    seen = await attempt(Written(tmp_path / "program", source, files_out=str(folder)))
    assert seen.error is not None
    assert "its files could not be kept" in seen.error.message
    assert "NotADirectoryError" in caplog.text
    assert "AKIAIOSFODNN7EXAMPLE" not in caplog.text


async def test_an_effect_that_was_stopped_has_not_happened_and_may_be_called_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = """
        import json, sys, time
        open("/out/a.txt", "w").write("half")
        if json.load(sys.stdin)["slow"]:
            time.sleep(100)
        print("true")
    """
    written = Written(tmp_path / "program", source, effect="write", key=[], files_out=str(out), timeout_ms=1_000)
    async with gate_of(written) as gate:
        seen = await call(gate, {"slow": True})
        assert (message(seen)[0], seen.status.value) == ("TOOL_TIMEOUT", "failed")
        assert not out.exists()
        assert value(await call(gate, {"slow": False}))["result"] is True
        again = await call(gate, {"slow": False})
    assert again.replayed
    assert len(list(out.iterdir())) == 1


async def test_a_cancelled_call_leaves_nothing_running(tmp_path: Path) -> None:
    written = Written(tmp_path, SLOW)
    async with gate_of(written) as gate:
        calling = asyncio.ensure_future(call(gate))
        while not written.left:
            await asyncio.wait([calling], timeout=0.01)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        while written.left and gate._owned.tasks:
            await asyncio.wait(gate._owned.tasks)
        assert written.left == []
        assert await used(gate, "calls") > 0


async def test_what_ends_a_sandbox_waits_until_its_first_process_is_buried() -> None:
    machine, keeper = find_machine(), Keeper()
    assert isinstance(machine, Machine)
    contents = Contents({}, sealed(b"{}"), None if machine.filter is None else sealed(machine.filter))
    program = Program(("/bin/sh", "-c", "echo here; while :; do sleep 100; done"))
    sandbox = start_sandbox(launch_of(program, machine, contents=contents), keeper=keeper)
    while not sandbox._streams["stdout"].kept:
        await passing(0.01)
    first = Path(f"/proc/{sandbox._first}")
    assert (first / "stat").exists()
    await sandbox.close()
    keeper.close()
    assert sandbox._process.returncode == 137  # bubblewrap saw it end, and was not killed itself
    assert not (first / "stat").exists()


async def test_many_at_once_all_come_back(tmp_path: Path) -> None:
    written = Written(tmp_path, "import sys\nprint(sys.stdin.read())")
    async with gate_of(written) as gate:
        calls = [ToolCall(f"c{each}", "attack", {"n": each}) for each in range(20)]
        seen = await gate.call_many(calls, principal=ALICE, run="r1")
    assert [value(each)["n"] for each in seen] == list(range(20))


async def test_descriptors_and_memory_files_are_given_back(tmp_path: Path) -> None:
    written = Written(tmp_path, "print(1)")
    async with gate_of(written) as gate:
        await call(gate)
        before = descriptors()
        for _ in range(5):
            await call(gate)
        assert descriptors() == before


KILLED = """
import asyncio
from pathlib import Path
from tests.sandbox.programs import PYTHON, Written, call, gate_of

async def main():
    written = Written(Path({folder!r}), {source!r})
    print(written.mark, flush=True)
    async with gate_of(written) as gate:
        await call(gate)

asyncio.run(main())
"""


@pytest.mark.parametrize("begun", [b"", PYTHON.encode()], ids=["sandbox", "program"])
async def test_a_program_does_not_outlive_a_gate_that_is_killed(tmp_path: Path, begun: bytes) -> None:
    source = KILLED.format(folder=str(tmp_path), source=SLOW)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", source, stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ}
    )
    assert process.stdout is not None
    written = Written(tmp_path, SLOW)
    written.mark = (await process.stdout.readline()).decode().strip()
    async with asyncio.timeout(30):
        while not any(line.startswith(begun) for line in map(command_line, written.left)):
            await asyncio.to_thread(os.sched_yield)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        while written.left:
            await asyncio.to_thread(os.sched_yield)
