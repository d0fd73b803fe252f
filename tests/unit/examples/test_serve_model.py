"""The small model is served where it is asked to be, or the port that cannot be had is named."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import model_server
import pytest
import serve_model


def test_a_port_that_is_taken_is_named_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert serve_model.main(["--port", str(port)]) == 1
    assert f"Port {port} cannot be had" in capsys.readouterr().err
    assert serve_model.main(["--port", "70000"]) == 1


def test_it_says_what_to_write_into_the_settings_until_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def served(*, port: int) -> Iterator[model_server.RunningModel]:
        yield model_server.RunningModel(f"http://127.0.0.1:{port}/v1", 0)
        raise AssertionError("it is interrupted before")

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(serve_model, "running_model", served)
    monkeypatch.setattr("threading.Event.wait", interrupted)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert serve_model.main(["--port", str(port)]) == 130
    assert f'model = "openai-chat:SmolLM2-135M-Instruct@http://127.0.0.1:{port}/v1"' in capsys.readouterr().out
