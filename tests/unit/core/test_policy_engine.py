"""The engine's port: only an answer that is one, and in accord with itself, counts."""

import pytest

from interlock.core.frozen import set_in_place
from interlock.core.policy import Answer, Evaluate, Outcome, Question, Reply
from interlock.core.policy_engine import EngineFault, checked
from tests.unit.core.policy_cases import SEARCH, policies, request

EFFECTS = {"p": True, "f": False}


@pytest.mark.requirement("POL-1")
@pytest.mark.parametrize(
    "reply",
    [
        None,
        {},
        "true",
        True,
        Reply("true", ("p",)),  # type: ignore[arg-type]
        Reply(1, ("p",)),  # type: ignore[arg-type]
        Reply(True, ["p"]),  # type: ignore[arg-type]
        Reply(True, ("p",), None),  # type: ignore[arg-type]
        Reply(True, ()),
        Reply(True, ("f",)),
        Reply(True, ("p", "f")),
        Reply(True, ("unheard-of",)),
        Reply(False, ("p",)),
    ],
)
def test_what_is_no_answer_is_a_fault(reply: object) -> None:
    with pytest.raises(EngineFault):
        checked(reply, effects=EFFECTS)


@pytest.mark.parametrize(
    "reply", [Reply(True, ("p",)), Reply(False, ("f",)), Reply(False, ()), Reply(False, (), ("e",))]
)
def test_an_answer_in_accord_with_itself_counts(reply: Reply) -> None:
    assert checked(reply, effects=EFFECTS) is reply


class EnginePanic(BaseException):
    """As a panic of the engine's own language arrives: outside `Exception`."""


def raising(fault: type[BaseException]) -> Evaluate:
    def engine(question: Question) -> Reply:
        raise fault

    return engine


@pytest.mark.requirement("POL-1")
@pytest.mark.parametrize("fault", [RuntimeError, TimeoutError, RecursionError, EnginePanic])
def test_an_engine_that_breaks_denies(fault: type[BaseException]) -> None:
    saved = policies("permit (principal, action, resource);", evaluate=raising(fault))
    explained = saved.explain(request())
    verdict = explained.verdict
    assert verdict.answer is Answer.DENY
    assert [trace.outcome for trace in explained.policies] == [Outcome.NOT_ASKED]
    assert verdict.reason.startswith("policy_unavailable")
    assert fault.__name__ in verdict.reason


def test_a_user_who_stops_the_program_is_not_held_up() -> None:
    saved = policies("permit (principal, action, resource);", evaluate=raising(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        saved.slice(SEARCH, "acme").decide(request())


def test_a_value_that_cannot_be_written_denies() -> None:
    saved = policies(
        'permit (principal, action, resource) when { context.agent == "a" } unless { principal.id == "a" };'
    )
    asked = request(environment="x", principal=request().principal)
    set_in_place(asked, "origin", None)
    verdict = saved.slice(SEARCH, "acme").decide(asked)
    assert (verdict.answer, verdict.reason[:18]) == (Answer.DENY, "policy_unavailable")


def test_the_question_holds_no_more_than_the_policies_read() -> None:
    seen: list[Question] = []

    def engine(question: Question) -> Reply:
        seen.append(question)
        return Reply(False, ())

    text = 'permit (principal in Group::"a", action == Action::"search", resource) when { context.args has count };'
    policies(text, evaluate=engine).slice(SEARCH, "acme").decide(request(arguments={"count": 1, "query": "secret"}))
    [question] = seen
    assert question.request["context"] == '{"args":{"count":1}}'
    assert question.request["principal"] == {"type": "User", "id": ""}
    assert "alice" not in str(question.entities)
    assert "research" in str(question.entities)
