"""Files go in as they were checked, and come out only where they are plain."""

import io
import os
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from interlock.core.program import Program, ProgramFile, SandboxLimits
from interlock.runners.sandbox_files import (
    FileRefused,
    LeftFile,
    close_all,
    for_tenant,
    keep_left,
    read_left,
    take_inputs,
    take_program,
)

pytestmark = pytest.mark.requirement("EXEC-7")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    (data / "a.txt").write_text("hello")
    (data / "deep" / "b.txt").write_text("deep")
    (tmp_path / "secret.txt").write_text("secret")
    (data / "link.txt").symlink_to(tmp_path / "secret.txt")
    (data / "way").symlink_to(tmp_path)
    os.mkfifo(data / "pipe")
    return data


def taken(folder: Path, path: object, *, bytes_max: int = 4_096) -> str:
    program = Program(("x",), files_in={"document": str(folder)}, limits=SandboxLimits(files_bytes=bytes_max))
    held = take_inputs(program, {"document": path}, tenant="acme")
    try:
        return os.read(held["/in/document"], 100).decode()
    finally:
        close_all(held)


def descriptors() -> int:
    """How many are open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def refusal(act: Callable[[], object]) -> str:
    before = descriptors()
    with pytest.raises(FileRefused) as refused:
        act()
    assert descriptors() == before
    return str(refused.value)


def test_an_argument_names_a_file_below_its_folder(folder: Path) -> None:
    assert (taken(folder, "a.txt"), taken(folder, "deep/b.txt")) == ("hello", "deep")


def test_an_argument_that_is_not_there_names_none(folder: Path) -> None:
    assert take_inputs(Program(("x",), files_in={"document": str(folder)}), {}, tenant="acme") == {}


@pytest.mark.parametrize("path", ["link.txt", "way/secret.txt", "pipe", "deep", "none.txt", "a.txt/b"])
def test_nothing_but_a_plain_file_below_the_folder_is_opened(folder: Path, path: str) -> None:
    assert refusal(lambda: taken(folder, path)) == "document names no file that can be read"


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "deep/../../secret.txt", "a\0.txt", "", 7, ["a.txt"]])
def test_a_path_that_could_lead_out_is_not_tried(folder: Path, path: object) -> None:
    assert refusal(lambda: taken(folder, path)) == "document must name a file by a plain relative path"


def test_a_file_over_the_limit_is_not_copied(folder: Path) -> None:
    assert taken(folder, "a.txt", bytes_max=5) == "hello"
    assert refusal(lambda: taken(folder, "a.txt", bytes_max=4)) == "document names a file that is too large"


def test_a_file_that_a_failing_disk_does_not_give_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> int:
        raise OSError("Input/output error")

    monkeypatch.setattr(os, "sendfile", fails)
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert refusal(lambda: taken(folder, "a.txt")) == "document names no file that can be read"
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_what_was_taken_can_be_changed_by_nobody(folder: Path) -> None:
    program = Program(("x",), files_in={"document": str(folder)})
    held = take_inputs(program, {"document": "a.txt"}, tenant="acme")
    (folder / "a.txt").write_text("other")
    with pytest.raises(PermissionError):
        os.write(held["/in/document"], b"other")
    assert os.read(held["/in/document"], 100) == b"hello"
    close_all(held)


def test_a_folder_can_be_each_tenants_own() -> None:
    program = Program(("x",), folder="/tools")
    assert for_tenant(program, "/srv/{tenant}/in", tenant="acme") == Path("/srv/acme/in")
    assert for_tenant(program, "{tenant}", tenant="acme") == Path("/tools/acme")
    assert for_tenant(program, "/srv/in", tenant="../acme") == Path("/srv/in")
    for tenant in ("..", "a/b", "", ".hidden"):
        with pytest.raises(FileRefused):
            for_tenant(program, "/srv/{tenant}/in", tenant=tenant)


def test_a_file_of_the_program_that_was_changed_is_not_taken(folder: Path) -> None:
    digest = sha256(b"hello").hexdigest()
    program = Program(("a.txt",), (ProgramFile("a.txt", digest),), folder=str(folder))
    held = take_program(program)
    assert os.read(held["/app/a.txt"], 100) == b"hello"
    close_all(held)
    (folder / "a.txt").write_text("other")
    assert refusal(lambda: take_program(program)) == "a.txt is not the file that was declared"
    (folder / "a.txt").unlink()
    assert refusal(lambda: take_program(program)) == "a.txt is not the file that was declared"


def test_an_executable_that_was_changed_is_not_started(folder: Path) -> None:
    name = str(folder / "a.txt")
    assert take_program(Program((name,), pinned=sha256(b"hello").hexdigest())) == {}
    assert "not the program that was declared" in refusal(lambda: take_program(Program((name,), pinned="0" * 64)))


def packed(*members: tuple[str, bytes, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind, data in members:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, len(data), "/etc/passwd"
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


FILE = tarfile.REGTYPE


def test_plain_files_are_taken_out() -> None:
    data = packed((".", tarfile.DIRTYPE, b""), ("./a.txt", FILE, b"one"), ("./b.zip", FILE, b"PK"))
    assert read_left(data, count_max=2, bytes_max=5) == (LeftFile("a.txt", b"one"), LeftFile("b.zip", b"PK"))
    assert LeftFile("a.txt", b"one").sha256 == sha256(b"one").hexdigest()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_what_is_no_plain_file_is_not_taken(kind: bytes) -> None:
    said = refusal(lambda: read_left(packed(("./a", kind, b"")), count_max=9, bytes_max=9))
    assert said == "it left something in /out that is no plain file"


@pytest.mark.parametrize("name", ["../a", "/etc/passwd", "./.ssh", "./a/b", "./a\nb", "./" + "x" * 200, "./ä"])
def test_a_name_that_could_mean_another_place_is_not_taken(name: str) -> None:
    assert "name is not taken" in refusal(lambda: read_left(packed((name, FILE, b"")), count_max=9, bytes_max=9))


def test_one_name_is_not_taken_twice() -> None:
    assert "name is not taken" in refusal(
        lambda: read_left(packed(("./a", FILE, b"1"), ("./a", FILE, b"2")), count_max=9, bytes_max=9)
    )


@pytest.mark.parametrize(("count", "size"), [(1, 9), (9, 5)])
def test_more_than_may_be_is_not_taken(count: int, size: int) -> None:
    data = packed(("./a", FILE, b"111"), ("./b", FILE, b"222"))
    assert "it left more in /out" in refusal(lambda: read_left(data, count_max=count, bytes_max=size))


@pytest.mark.parametrize("data", [b"", b"no tar", b"\0" * 511, packed(("./a", FILE, b"x" * 9_999))[:2_000]])
def test_a_stream_that_is_no_tar_is_not_taken(data: bytes) -> None:
    assert refusal(lambda: read_left(data, count_max=9, bytes_max=99_999)) == "what it left in /out could not be packed"


def test_files_are_put_in_place_all_at_once(tmp_path: Path) -> None:
    files = (LeftFile("a.txt", b"one"), LeftFile("b.txt", b"two"))
    keep_left(files, folder=tmp_path / "new", name="op.1.1")
    assert {each.name: each.read_bytes() for each in (tmp_path / "new" / "op.1.1").iterdir()} == {
        "a.txt": b"one",
        "b.txt": b"two",
    }


def test_files_that_cannot_be_put_in_place_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "op.1.1").mkdir()
    (tmp_path / "op.1.1" / "other").write_text("x")
    with pytest.raises(OSError, match=r"."):
        keep_left((LeftFile("a.txt", b"one"),), folder=tmp_path, name="op.1.1")
    assert [each.name for each in tmp_path.iterdir()] == ["op.1.1"]
