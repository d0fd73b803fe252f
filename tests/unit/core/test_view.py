"""What a caller hears of tools: nothing that shows that there is one that it may not see."""

import pytest

from interlock.core.call import Caller, ToolCall
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.decision import Deny, propose, resolve
from interlock.core.lifecycle import CLOSED, Lifecycle
from interlock.core.observe import refused
from interlock.core.policy import PolicySet, PolicySource, Visibility
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.tool import ChosenBy
from interlock.core.tool_compile import compile_tool
from interlock.core.view import View
from tests.unit.core.call_cases import BY_ALICE, catalogue, in_state, proposed, spec, tool

SOME = 'permit (principal, action in [Action::"save_draft", Action::"send_draft"], resource);'
PLAIN = Redactor()
SAVE, SEND, SECRET = tool(), tool("send_draft"), tool("save_secret")


def view(*tools: Tool, policy: str = SOME, environment: str = "") -> View:
    specs = {each.spec.identity: each.spec for each in (SAVE, SEND, SECRET, *tools)}
    return View(catalogue(*tools), PolicySet([PolicySource("main", policy)], specs.values()), 1, environment)


ALL = view(SAVE, SEND, SECRET)


def told(name: str, seen: View = ALL, by: Caller = BY_ALICE, arguments: str = '{"draft_id":"r1"}') -> Deny:
    deny = propose(proposed(arguments, name=name), by, seen.catalogue)
    assert isinstance(deny, Deny), deny
    return seen.told(deny, name, by)


@pytest.mark.requirement("CALL-4")
def test_a_caller_sees_the_tools_that_policy_may_let_it_call() -> None:
    assert ALL.visible(BY_ALICE) == ("save_draft", "send_draft")
    assert ALL.visibility(SECRET, BY_ALICE) is Visibility.NEVER
    assert ALL.visibility(None, BY_ALICE) is Visibility.NEVER


@pytest.mark.requirement("POL-5", "CALL-4")
def test_a_listing_sees_the_environment_that_decides_the_call() -> None:
    only = 'permit (principal, action, resource) when { context.environment == "production" };'
    assert view(SAVE, policy=only, environment="production").visible(BY_ALICE) == ("save_draft",)
    assert view(SAVE, policy=only, environment="development").visible(BY_ALICE) == ()


@pytest.mark.requirement("CALL-4")
def test_an_unknown_name_is_told_the_nearest_that_the_caller_may_see() -> None:
    heard = told("save_secrets")
    assert heard.code is Code.TOOL_NOT_FOUND
    assert heard.details == {"nearest": ["save_draft"]}
    assert heard.hint.startswith("If you meant save_draft, call that; only tools that you were given can be called")
    assert told("zzz").hint == ""
    everything = view(SAVE, SEND, SECRET, policy="permit (principal, action, resource);")
    assert told("save_secrets", everything).details == {"nearest": ["save_secret", "save_draft"]}


@pytest.mark.requirement("CALL-4")
@pytest.mark.parametrize("arguments", ['{"draft_id":"r1"}', "not json", "[]", '{"draft_id":5}'])
def test_a_tool_that_the_caller_may_not_see_is_told_like_one_that_is_not_there(arguments: str) -> None:
    hidden = propose(proposed(arguments, name="save_secret"), BY_ALICE, ALL.catalogue)
    deny = hidden if isinstance(hidden, Deny) else Deny(Code.PERMISSION_DENIED, "No.", tool=SECRET)
    heard = ALL.told(deny, "save_secret", BY_ALICE)
    without = view(SAVE, SEND)
    absent = told("save_secret", without, arguments=arguments)
    assert refused("c1", "save_secret", heard, redactor=PLAIN) == refused("c1", "save_secret", absent, redactor=PLAIN)
    assert heard.audited in {Code.TOOL_NOT_ALLOWED, Code.PERMISSION_DENIED}
    assert absent.audited is None


@pytest.mark.requirement("CALL-4")
def test_a_candidate_is_told_like_a_tool_that_is_not_there() -> None:
    candidate = told("save_draft", view(in_state(Lifecycle.CANDIDATE), SEND))
    absent = told("save_draft", view(SEND))
    assert refused("c1", "save_draft", candidate, redactor=PLAIN) == refused("c1", "save_draft", absent, redactor=PLAIN)


@pytest.mark.requirement("CALL-4")
@pytest.mark.parametrize("state", CLOSED)
def test_a_name_that_takes_no_calls_is_not_suggested(state: Lifecycle) -> None:
    assert told("save_drafts", view(in_state(state))).details == {}


@pytest.mark.requirement("CALL-4")
def test_a_tool_for_the_users_own_requests_is_not_allowed_to_a_model() -> None:
    send = compile_tool(spec("send_draft", chosen_by=ChosenBy.USER))
    seen = view(send)
    assert told("send_draft", seen).code is Code.TOOL_NOT_ALLOWED
    asked = Caller(BY_ALICE.principal, task="t1", user_requested=True)
    assert resolve(ToolCall("c1", "send_draft"), asked, seen.catalogue) is send


def test_a_refusal_that_is_not_about_a_tool_is_told_as_it_is() -> None:
    ended = Deny(Code.RUN_ENDED, "The run has ended.")
    assert ALL.told(ended, "save_draft", BY_ALICE) is ended


def test_what_is_wrong_with_a_call_of_a_visible_tool_is_told_as_it_is() -> None:
    heard = told("save_draft", arguments='{"draft_id":5}')
    assert heard.code is Code.TOOL_ARGUMENT_INVALID
    assert heard.details["validation_errors"]


def test_an_empty_catalogue_has_no_hints() -> None:
    assert View(Catalogue(), ALL.policies, 1, "").told(Deny(Code.TOOL_NOT_FOUND, "No."), "x", BY_ALICE).details == {}
