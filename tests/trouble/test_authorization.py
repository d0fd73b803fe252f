"""What went wrong for others in authorization: string rules on shell text, engines that failed open."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock.core.canonical import Json
from interlock.core.effect import Effect
from interlock.core.policy import Answer, Evaluate, PolicySet, PolicySource, Question, Reply
from interlock.core.tool import Document, ToolSpec
from tests.unit.core.policy_cases import request, tool

CMD: Json = {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}
SHELL = tool("shell", effect=Effect.DESTRUCTIVE, input_schema=Document.of(CMD))
Cases = Callable[[str], Mapping[str, Any]]


def shell_policies(rules: list[dict[str, str]]) -> PolicySet:
    """The case's rules word for word, with an ask for whatever is not denied."""
    text = '@id("ask") @approval("lead") permit (principal, action == Action::"shell", resource);'
    for rule in rules:
        effect = "permit" if "allow" in rule else "forbid"
        name, pattern = rule.get("allow") or rule["deny"], rule["args.cmd"]
        text += (
            f'{effect} (principal, action == Action::"{name}", resource) when {{ context.args.cmd like "{pattern}" }};'
        )
    return PolicySet([PolicySource("shell", text)], [SHELL])


@pytest.mark.trouble
@pytest.mark.requirement("POL-3")
def test_an_allow_by_pattern_never_overrides_an_ask(trouble_case: Cases) -> None:
    case = trouble_case("AUT-01")["input"]
    saved = shell_policies(case["policy"])
    answers = [saved.slice(SHELL, "acme").decide(request(SHELL, {"cmd": cmd})).answer for cmd in case["calls"]]
    assert answers == [Answer.ASK, Answer.ASK, Answer.DENY]


@pytest.mark.trouble
@pytest.mark.requirement("POL-3")
def test_a_permit_by_pattern_on_text_is_warned_of_when_it_is_saved(trouble_case: Cases) -> None:
    saved = shell_policies(trouble_case("AUT-01")["input"]["policy"])
    assert [each for each in saved.warnings if "matches what is chained behind it" in each]


@pytest.mark.trouble
@pytest.mark.requirement("POL-3", "APR-2")
def test_what_was_approved_once_allows_no_later_call(trouble_case: Cases) -> None:
    """There are no standing grants: a decision does not depend on what was approved before."""
    case = trouble_case("AUT-01")["input"]
    slice_ = shell_policies([]).slice(SHELL, "acme")
    for cmd in (case["approved_always"], case["later"]):
        assert slice_.decide(request(SHELL, {"cmd": cmd})).answer is Answer.ASK


def engine_with(fault: str) -> Evaluate:
    """The case's fault at our port: a remote engine's timeout or status arrives as an exception."""
    answers: dict[str, object] = {
        "evaluator raises": RuntimeError("broken"),
        "evaluator sleeps past timeout": TimeoutError(),
        "HTTP 500": OSError("HTTP 500"),
        "body {} (undefined result)": {},
        "result: 'true' (string)": "true",
    }

    def engine(question: Question) -> Reply:
        answer = answers[fault]
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]

    return engine


@pytest.mark.trouble
@pytest.mark.requirement("POL-1")
def test_an_engine_without_a_usable_answer_denies(trouble_case: Cases) -> None:
    case = trouble_case("AUT-02")["input"]
    spec: ToolSpec = tool(case["policy"]["deny"], effect=Effect.DESTRUCTIVE)
    for fault in case["fault"]:
        source = PolicySource("main", "permit (principal, action, resource);")
        slice_ = PolicySet([source], [spec], evaluate=engine_with(fault)).slice(spec, "acme")
        verdict = slice_.decide(request(spec))
        assert verdict.answer is Answer.DENY, fault
        assert "policy_unavailable" in verdict.reason
