"""Programs that attack the machine are contained, and the call that ran them ends with a safe message."""

import asyncio
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from interlock.core.program import SandboxLimits
from tests.sandbox.programs import Written, attempt, message, value

pytestmark = pytest.mark.requirement("EXEC-7")

ROOT = Path(__file__).resolve().parents[2]
TRIED = """
import ctypes, errno, json, os, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
done = []
def tried(name, act):
    try:
        found = act()
    except OSError as fault:
        return errno.errorcode.get(fault.errno, str(fault.errno))
    except Exception as fault:
        return type(fault).__name__
    done.append(name)
    return repr(found)
def system(number, *arguments):
    if libc.syscall(number, *arguments) == -1:
        raise OSError(ctypes.get_errno(), "refused")
"""


async def tries(folder: Path, source: str, **options: Any) -> list[str]:
    """What of the things that the source tries was done."""
    seen = await attempt(Written(folder, f"{TRIED}\n{source}\nprint(json.dumps(done))", **options))
    found: list[str] = value(seen)
    return found


async def test_a_fork_bomb_gets_no_more_processes_than_allowed(tmp_path: Path) -> None:
    source = """
        import json, os, signal
        count = 0
        try:
            while True:
                if os.fork() == 0:
                    signal.pause()
                count += 1
        except OSError:
            print(json.dumps(count))
    """
    assert value(await attempt(Written(tmp_path, source, limits=SandboxLimits(processes=8)))) == 7


async def test_a_fork_bomb_that_never_stops_is_ended_at_its_deadline(tmp_path: Path) -> None:
    source = """
        import os
        while True:
            try:
                os.fork()
            except OSError:
                pass
    """
    seen = await attempt(Written(tmp_path, source, timeout_ms=1_000, limits=SandboxLimits(processes=8)))
    assert message(seen) == ("TOOL_TIMEOUT", "attack did not end in time and was stopped.")


async def test_memory_is_bounded_wherever_it_is_taken(tmp_path: Path) -> None:
    source = """
        import mmap
        size = 200 << 20
        tried("heap", lambda: len(bytearray(size)))
        tried("mapping", lambda: len(mmap.mmap(-1, size)))
        tried("memfd", lambda: os.memfd_create("x"))
        def shm():
            with open("/dev/shm/x", "wb") as file:
                for _ in range(200): file.write(bytes(1 << 20))
        tried("shm", shm)
        def segment():
            if libc.shmget(0, size, 0o1600) == -1: raise OSError(ctypes.get_errno(), "refused")
        tried("segment", segment)
    """
    limits = SandboxLimits(memory_bytes=100 << 20, files_bytes=4 << 20)
    assert await tries(tmp_path, _plain(source), limits=limits) == []


async def test_a_program_that_eats_memory_ends_with_a_safe_message(tmp_path: Path) -> None:
    source = "held = []\nwhile True:\n    held.append(bytearray(1 << 20))"
    seen = await attempt(Written(tmp_path, source, limits=SandboxLimits(memory_bytes=100 << 20)))
    assert message(seen) == ("TOOL_EXCEPTION", "attack ended with the exit code 1.")


async def test_processes_that_eat_memory_together_are_ended(tmp_path: Path) -> None:
    source = """
        import os, signal
        for _ in range(4):
            if os.fork() == 0:
                held = bytearray(os.urandom(1) * (40 << 20))
                signal.pause()
        signal.pause()
    """
    seen = await attempt(Written(tmp_path, source, timeout_ms=10_000, limits=SandboxLimits(memory_bytes=100 << 20)))
    assert message(seen) == ("TOOL_EXCEPTION", "attack was stopped: it held more than 104857600 bytes of memory.")


async def test_a_disk_is_not_filled(tmp_path: Path) -> None:
    source = """
        import json, os
        def fill(folder):
            written = 0
            for number in range(20):
                try:
                    with open(f"{folder}/{number}", "wb", buffering=0) as file:
                        for _ in range(64):
                            written += file.write(bytes(65536))
                except OSError:
                    pass
            return written
        print(json.dumps([fill(each) for each in ("/tmp", "/dev/shm", "/dev", "/app", "/", "/run")]))
    """
    written = value(await attempt(Written(tmp_path, source, limits=SandboxLimits(files_bytes=1 << 20))))
    assert written[2:] == [0, 0, 0, 0]
    assert all(0 < each <= 1 << 20 for each in written[:2])


async def test_no_network_is_there(tmp_path: Path) -> None:
    came: list[object] = []
    server = await asyncio.start_server(lambda reader, writer: came.append(writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    name = f"interlock-{os.getpid()}"
    abstract = await asyncio.start_unix_server(lambda reader, writer: came.append(writer), f"\0{name}")
    source = f"""
        def to(family, address, kind=socket.SOCK_STREAM):
            with socket.socket(family, kind) as one:
                one.settimeout(1)
                one.connect(address)
                one.send(b"x")
        tried("loopback", lambda: to(socket.AF_INET, ("127.0.0.1", {port})))
        tried("internet", lambda: to(socket.AF_INET, ("1.1.1.1", 443)))
        tried("datagram", lambda: to(socket.AF_INET, ("1.1.1.1", 53), socket.SOCK_DGRAM))
        tried("metadata", lambda: to(socket.AF_INET, ("169.254.169.254", 80)))
        tried("six", lambda: to(socket.AF_INET6, ("::1", {port})))
        tried("abstract", lambda: to(socket.AF_UNIX, "\\0{name}"))
        tried("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
        tried("packets", lambda: socket.socket(17, socket.SOCK_RAW))
        tried("netlink", lambda: socket.socket(16, socket.SOCK_RAW))
        tried("names", lambda: socket.getaddrinfo("example.com", 80))
    """
    assert await tries(tmp_path, _plain(source)) == []
    assert came == []
    for each in (server, abstract):
        each.close()


async def test_other_processes_cannot_be_looked_into(tmp_path: Path) -> None:
    source = """
        tried("attach", lambda: system(101, 16, 1, 0, 0))
        tried("traceme", lambda: system(101, 0, 0, 0, 0))
        tried("read", lambda: system(310, 1, 0, 0, 0, 0, 0))
        tried("steal", lambda: system(438, 3, 0, 0))
        seen = [each for each in os.listdir("/proc") if each.isdigit()]
        tried("others", lambda: len(seen) > 3 or 1 / 0)
        mine = [open(f"/proc/{each}/cmdline").read() for each in seen]
        tried("tests", lambda: any("pytest" in each for each in mine) or 1 / 0)
        tried("memory", lambda: open("/proc/kcore", "rb").read(1))
        tried("log", lambda: open("/dev/kmsg", "rb").read(1))
    """
    if os.uname().machine != "x86_64":
        pytest.skip("The numbers of system calls are those of x86_64.")
    assert await tries(tmp_path, _plain(source)) == []


async def test_the_kernel_is_not_spoken_to(tmp_path: Path) -> None:
    source = """
        numbers = {"mount": 165, "umount": 166, "pivot": 155, "chroot": 161, "unshare": 272, "keyctl": 250, "bpf": 321,
            "userfaultfd": 323, "perf": 298, "io_uring": 425, "open_tree": 428, "clone3": 435, "setns": 308}
        for name, number in numbers.items():
            tried(name, lambda: system(number, 0, 0, 0, 0, 0))
        tried("new user", lambda: system(56, 0x10000011, 0, 0, 0, 0))
        tried("unshare program", lambda: subprocess.run(["/usr/bin/unshare", "-U", "true"], check=True))
        tried("mount program", lambda: subprocess.run(["/usr/bin/mount", "-t", "tmpfs", "x", "/tmp"], check=True))
    """
    if os.uname().machine != "x86_64":
        pytest.skip("The numbers of system calls are those of x86_64.")
    assert await tries(tmp_path, _plain(source)) == []


async def test_files_of_the_machine_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("key")
    source = f"""
        for each in ("/etc/shadow", "/etc/hostname", "/etc/ssh", "/root", "/home", "/var", "/sys", "/run/user",
                     "/proc/1/root/etc/shadow", "/proc/self/cwd/../../etc/shadow", {str(secret)!r}, {str(ROOT)!r}):
            tried(each, lambda: os.stat(each))
    """
    assert await tries(tmp_path, _plain(source)) == []


async def test_the_environment_of_the_gate_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "of-the-gate")
    source = """
        import json, os, sys
        seen = "".join(open(f"/proc/{each}/environ").read() for each in os.listdir("/proc") if each.isdigit())
        print(json.dumps([sorted(os.environ), "of-the-gate" in seen]))
    """
    names = ["GREETING", "HOME", "LANG", "PATH", "PWD", "TMPDIR"]
    assert value(await attempt(Written(tmp_path, source, environment={"GREETING": "hello"}))) == [names, False]


async def test_nothing_outside_is_written(tmp_path: Path) -> None:
    source = """
        for each in ("/x", "/usr/x", "/etc/x", "/etc/passwd", "/app/x", "/app/attack.py", "/bin/x", "/dev/x", "/run/x",
                     "/run/arguments", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger"):
            tried(each, lambda: open(each, "w").write("0"))
        tried("chmod", lambda: os.chmod("/app/attack.py", 0o777))
        tried("device", lambda: os.mknod("/tmp/disk", 0o60600, os.makedev(8, 0)))
        tried("remove", lambda: os.unlink("/app/attack.py"))
    """
    assert await tries(tmp_path, _plain(source)) == []
    assert (tmp_path / "attack.py").exists()


async def test_no_descriptor_of_the_gate_is_there(tmp_path: Path) -> None:
    source = """
        import json, os
        print(json.dumps([each for each in range(256) if os.path.exists(f"/proc/self/fd/{each}")]))
    """
    assert value(await attempt(Written(tmp_path, source))) == [0, 1, 2]


async def test_a_setuid_program_gives_nothing(tmp_path: Path) -> None:
    source = """
        import shutil
        shutil.copy("/usr/bin/id", "/tmp/id")
        os.chmod("/tmp/id", 0o6755)
        for each in ("/tmp/id", "/usr/bin/id"):
            tried(each, lambda: "uid=65534" in subprocess.run([each], capture_output=True, text=True).stdout and 1 / 0)
        tried("su", lambda: subprocess.run(["/usr/bin/su", "-c", "true"], check=True, stdin=subprocess.DEVNULL))
        tried("root", lambda: os.setuid(0))
        tried("group", lambda: os.setgroups([0]))
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        tried("privileges", lambda: status["NoNewPrivs"].strip() == "1" and 1 / 0)
        tried("capabilities", lambda: int(status["CapBnd"], 16) == 0 and 1 / 0)
    """
    assert await tries(tmp_path, _plain(source)) == []


async def test_a_gigabyte_of_output_is_cut_and_not_kept(tmp_path: Path) -> None:
    source = """
        import os
        for _ in range(1024):
            os.write(1, b"x" * (1 << 20))
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seen = await attempt(Written(tmp_path, source, limits=SandboxLimits(output_bytes=1 << 20)))
    assert message(seen) == ("OUTPUT_INVALID", "attack was stopped: it gave more than 1048576 bytes.")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


@pytest.mark.parametrize("stream", [1, 2])
async def test_output_without_end_is_cut(tmp_path: Path, stream: int) -> None:
    source = f"import os\nwhile True:\n    os.write({stream}, b'\\n')"
    seen = await attempt(Written(tmp_path, source, limits=SandboxLimits(output_bytes=10_000)))
    assert message(seen) == ("OUTPUT_INVALID", "attack was stopped: it gave more than 10000 bytes.")


async def test_a_program_that_ignores_every_signal_is_ended(tmp_path: Path) -> None:
    source = """
        import signal
        for each in range(1, 65):
            try:
                signal.signal(each, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            signal.pause()
    """
    assert message(await attempt(Written(tmp_path, source, timeout_ms=500)))[0] == "TOOL_TIMEOUT"


async def test_a_program_that_stops_itself_and_all_others_is_ended(tmp_path: Path) -> None:
    source = "import os, signal\nos.kill(1, signal.SIGSTOP)\nos.kill(0, signal.SIGSTOP)"
    assert message(await attempt(Written(tmp_path, source, timeout_ms=500)))[0] == "TOOL_TIMEOUT"


async def test_computing_without_end_is_ended_by_its_limit(tmp_path: Path) -> None:
    seen = await attempt(Written(tmp_path, "while True: pass", limits=SandboxLimits(cpu_s=1)))
    assert message(seen) == ("TOOL_EXCEPTION", "attack was stopped: it used up its time of computing.")


async def test_a_child_that_goes_into_the_background_holds_up_nothing(tmp_path: Path) -> None:
    source = """
        import os, signal
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                while True:
                    signal.pause()
            os._exit(0)
        os.wait()
        print('"done"')
    """
    assert value(await attempt(Written(tmp_path, source))) == "done"


async def test_killing_everything_kills_only_itself(tmp_path: Path) -> None:
    source = """
        import os, signal
        child = os.fork() or signal.pause()
        os.kill(1, signal.SIGKILL)
        os.kill(-1, signal.SIGKILL)
        print('"here"')
    """
    assert value(await attempt(Written(tmp_path, source))) == "here"


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("NaN", "it contains NaN or Infinity"),
        ("-Infinity", "it contains NaN or Infinity"),
        ("1e999", "it holds a number that is too large"),
        ('{"a": 1, "a": 2}', "an object has the same key twice"),
        ("1 2", "it is not one JSON value"),
        ("{'a': 1}", "it is not one JSON value"),
        ("", "it is empty"),
        ('"\\ud800"', "it contains a lone surrogate"),
    ],
)
async def test_output_that_is_no_plain_json_is_not_taken(tmp_path: Path, output: str, reason: str) -> None:
    seen = await attempt(Written(tmp_path, f"print({output!r})"))
    assert message(seen) == ("OUTPUT_INVALID", f"attack printed what is no JSON: {reason}.")


@pytest.mark.parametrize(
    "source",
    ["print('[' * 500_000)", "print('1' * 900_000)", "import os; os.write(1, bytes([255, 254]))"],
    ids=["deep", "long", "bytes"],
)
async def test_output_that_attacks_the_reader_is_not_taken(tmp_path: Path, source: str) -> None:
    assert message(await attempt(Written(tmp_path, source)))[0] == "OUTPUT_INVALID"


async def test_arguments_that_nobody_reads_hold_up_nothing(tmp_path: Path) -> None:
    source = "import os\nos.close(0)\nprint('\"deaf\"')"
    assert value(await attempt(Written(tmp_path, source), {"text": "x" * 500_000})) == "deaf"


def _plain(source: str) -> str:
    lines = source.splitlines()
    return "\n".join(line.removeprefix("        ") for line in lines)
