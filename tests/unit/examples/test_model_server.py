"""A server of the small model that cannot start says why; where the system lacks OpenMP, a wheel brings it."""

import os
from pathlib import Path

import model_server
import pytest


def started_by(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    """Have `program` in the place of llama.cpp's process."""
    (folder / "model_process.py").write_text(program)
    (folder / "weights.gguf").touch()
    monkeypatch.setattr(model_server, "HERE", folder)
    monkeypatch.setattr(model_server, "weights", lambda: folder / "weights.gguf")


def test_what_a_server_said_last_is_told_where_it_ends_before_it_listens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started_by(monkeypatch, tmp_path, "raise SystemExit('the weights are cut off')")
    told = pytest.raises(model_server.ModelUnavailable, match="ended while it was starting: the weights are cut off")
    with told, model_server.running_model():
        raise AssertionError("there is no model")


def test_a_system_without_openmp_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = "ImportError: libgomp.so.1: cannot open shared object file: No such file or directory"
    started_by(monkeypatch, tmp_path, f"raise SystemExit({said!r})")
    told = pytest.raises(model_server.ModelUnavailable, match="apt-get install libgomp1")
    with told, model_server.running_model():
        raise AssertionError("there is no model")


def test_the_library_that_a_wheel_brings_is_found_by_its_usual_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pykdtree").mkdir()
    (tmp_path / "pykdtree" / "__init__.py").touch()
    (tmp_path / "pykdtree.libs").mkdir()
    (tmp_path / "pykdtree.libs" / "libgomp-870cb1d0.so.1.0.0").write_bytes(b"the library")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(model_server, "_lacks_openmp", lambda: True)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/of/the/user")
    with model_server._with_openmp() as environment:
        folder, users = environment["LD_LIBRARY_PATH"].split(":")
        assert Path(folder, "libgomp.so.1").read_bytes() == b"the library"
    assert users == "/opt/of/the/user"
    assert not Path(folder).exists()


def test_a_system_with_openmp_keeps_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_server, "_lacks_openmp", lambda: False)
    with model_server._with_openmp() as environment:
        assert environment is os.environ
