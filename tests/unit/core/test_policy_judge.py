"""Remembered answers are the answers, whatever the policies and requests are."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core.call import Origin, Principal, PrincipalKind
from interlock.core.canonical import Json
from interlock.core.effect import Effect
from interlock.core.labels import Confidentiality, Labels
from interlock.core.policy import (
    Answer,
    Outcome,
    PolicyRequest,
    PolicySet,
    PolicySlice,
    PolicySource,
    Question,
    Reply,
    Visibility,
    cedar,
)
from interlock.core.policy_judge import CALLERS_MAX, MEMO_MAX
from interlock.core.run import RunFacts
from tests.unit.core.policy_cases import ALICE, SEARCH, policies, request, tool

CONDITIONS = (
    "true",
    "false",
    'principal == User::"alice"',
    'principal in Group::"research"',
    'principal.groups.contains("sales")',
    'principal is Agent && principal.on_behalf_of == "alice"',
    "context.args has count && context.args.count == 1",
    "context.args has count && context.args.count + 9223372036854775807 > 0",
    'context.args has query && context.args.query == "1"',
    "context.args has flag && context.args.flag",
    'context.args has amount && context.args.amount.lessThan(decimal("1.5"))',
    'context.args has tags && context.args.tags.contains("1")',
    "context.args has page && context.args.page.size * 9223372036854775807 > 1",
    "context.run.confidentiality >= 2",
    'context.run.tools.contains("search")',
    'context.agent == "x" || context.door == "mcp"',
    'context.now > datetime("2020-01-01")',
    'context.facts.ticket == "1"',
    "{a: principal, b: context}.b.tool.risk == 0",
)
SCOPES = (
    "principal, action, resource",
    'principal in Group::"sales", action, resource',
    'principal is User, action == Action::"search", resource',
    'principal, action in [Action::"read", Action::"write"], resource is Tool',
    'principal, action == Action::"search", resource == Tool::"search"',
)
ONE_ISH: list[Json] = [True, 1, 1.0, "1", 0, False, None, 2**70, 1.23456, ["1"], [1], {"size": 1}, {"size": 2}, {}]

# Only tool search has these arguments, so conditions on them need a scope that names it.
policy_texts = st.tuples(
    st.sampled_from(["permit", "permit", "forbid", '@approval("lead") permit', '@redact("a") permit']),
    st.sampled_from(SCOPES),
    st.sampled_from(CONDITIONS),
    st.sampled_from(["when", "unless"]),
).map(lambda parts: f"{parts[0]} ({parts[1]}) {parts[3]} {{ {parts[2]} }};")
policy_files = st.lists(policy_texts, min_size=1, max_size=5, unique=True).map("\n".join)
principals = st.builds(
    Principal,
    tenant=st.sampled_from(["acme", "acme", "globex"]),
    id=st.sampled_from(["alice", "bob", 'a"\\\n']),
    kind=st.sampled_from(PrincipalKind),
    groups=st.frozensets(st.sampled_from(["research", "sales", "1"])),
    acting_for=st.sampled_from([None, "alice"]),
)
arguments = st.dictionaries(
    st.sampled_from(["query", "count", "amount", "flag", "tags", "page", "other"]), st.sampled_from(ONE_ISH), max_size=3
)
requests = st.builds(
    PolicyRequest,
    spec=st.just(SEARCH),
    principal=principals,
    arguments=arguments,
    run=st.builds(
        RunFacts,
        id=st.just("r"),
        labels=st.builds(Labels, st.sampled_from(Confidentiality)),
        tools=st.frozensets(st.sampled_from(["search", "save"])),
    ),
    origin=st.builds(Origin, door=st.sampled_from(["mcp", "http"]), agent=st.sampled_from(["x", ""])),
    now_us=st.integers(-(2**62), 2**62),
    facts=st.dictionaries(st.just("ticket"), st.sampled_from(ONE_ISH)),
)


def fresh(text: str) -> PolicySlice:
    return policies(text).slice(SEARCH, "acme")


@pytest.mark.requirement("POL-1")
@given(policy_files, st.lists(requests, min_size=1, max_size=6))
@settings(max_examples=25)
def test_a_remembered_answer_is_the_one_that_would_be_given_anew(text: str, asked: list[PolicyRequest]) -> None:
    warm = fresh(text)
    for each in (*asked, *reversed(asked)):
        assert warm.decide(each) == fresh(text).decide(each)


@pytest.mark.requirement("POL-1")
@given(policy_files, requests)
@settings(max_examples=50)
def test_a_policy_that_errors_never_lets_anything_through(text: str, asked: PolicyRequest) -> None:
    explained = policies(text).slice(SEARCH, "acme").explain(asked)
    if any(trace.outcome in (Outcome.ERROR, Outcome.NOT_ASKED) for trace in explained.policies):
        assert explained.verdict.answer is Answer.DENY


@given(policy_files, requests)
@settings(max_examples=50)
def test_showing_the_engine_only_what_is_read_changes_no_answer(text: str, asked: PolicyRequest) -> None:
    """Beside a policy that reads everything and is never satisfied, the answer is the same wherever all of it fits."""
    everything = '@id("all") permit (principal, action == Action::"search", resource) when '
    everything += "{ principal == principal && context == context && resource == resource && false };"
    whole, part = fresh(text + everything).decide(asked), fresh(text).decide(asked)
    if "policy reads it" not in whole.reason:
        assert (whole.answer, whole.policies, whole.requirement) == (part.answer, part.policies, part.requirement)


@pytest.mark.requirement("POL-5")
@given(policy_files, requests)
@settings(max_examples=50)
def test_a_listing_never_hides_what_can_be_called_nor_promises_what_cannot(text: str, asked: PolicyRequest) -> None:
    slice_ = fresh(text)
    visible = slice_.visibility(asked.principal, environment=asked.environment, origin=asked.origin)
    denied = slice_.decide(asked).answer is Answer.DENY
    assert not (visible is Visibility.NEVER and not denied)
    assert not (visible is Visibility.ALWAYS and denied)


class Counted:
    """Cedar, with a count of how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, question: Question) -> Reply:
        self.asked += 1
        return cedar(question)


def counted(text: str) -> tuple[Counted, PolicySlice]:
    engine = Counted()
    saved: PolicySet = policies(text, evaluate=engine)
    return engine, saved.slice(SEARCH, "acme")


def test_the_engine_is_asked_once_for_all_that_a_slice_does_not_tell_apart() -> None:
    engine, slice_ = counted('permit (principal in Group::"research", action, resource);')
    for id_ in ("alice", "anna"):
        for query in ("a", "b"):
            slice_.decide(request(arguments={"query": query}, principal=replace(ALICE, id=id_)))
    assert engine.asked == 1
    slice_.decide(request(principal=replace(ALICE, groups=frozenset({"sales"}))))
    assert engine.asked == 2


def test_tools_that_policies_cannot_tell_apart_share_what_is_remembered() -> None:
    engine = Counted()
    tools = [tool("a"), tool("b"), tool("c", owner="sales"), tool("d", effect=Effect.WRITE), tool("e", tenant="acme")]
    text = (
        'permit (principal, action in Action::"any", resource) when { principal.groups.contains(context.tool.owner) };'
    )
    saved = PolicySet([PolicySource("main", text)], tools, evaluate=engine)
    answers = [saved.slice(spec, "acme").decide(request(spec)).answer.value for spec in tools]
    assert answers == ["allow", "allow", "deny", "allow", "allow"]
    assert engine.asked == 3


@pytest.mark.parametrize(
    "text",
    [
        'permit (principal, action == Action::"a", resource);',
        'permit (principal, action, resource) when { action == Action::"a" };',
        'permit (principal, action, resource) when { resource == Tool::"a" };',
        'permit (principal, action, resource == Tool::"a");',
        'permit (principal, action, resource) when { resource.id == "a" };',
        'permit (principal, action, resource) when { context.tool.name == "a" };',
        'permit (principal, action, resource) when { {x: resource}.x == Tool::"a" };',
        'permit (principal, action, resource) when { context.tool.version == "2" };',
    ],
)
def test_tools_that_policies_can_tell_apart_share_nothing(text: str) -> None:
    tools = [tool("b"), tool("a", version="2"), tool("c")]
    saved = PolicySet([PolicySource("main", text)], tools)
    answers = [saved.slice(spec, "acme").decide(request(spec)).answer.value for spec in tools]
    assert answers == ["deny", "allow", "deny"]


def test_true_one_and_the_text_one_are_told_apart() -> None:
    engine, slice_ = counted(
        'permit (principal, action == Action::"search", resource) when { context.args has flag && context.args.flag };'
    )
    answers = [slice_.decide(request(arguments={"flag": value})).answer for value in (True, 1, 1.0, "1", True)]
    assert answers == [Answer.ALLOW, Answer.DENY, Answer.DENY, Answer.DENY, Answer.ALLOW]
    assert engine.asked == 1


def test_a_slice_that_reads_the_time_remembers_nothing() -> None:
    engine, slice_ = counted('permit (principal, action, resource) when { context.now > datetime("2020-01-01") };')
    assert slice_.reads_time
    assert slice_.decide(request(now_us=0)).answer is Answer.DENY
    assert slice_.decide(request(now_us=1_800_000_000_000_000)).answer is Answer.ALLOW
    slice_.decide(request(now_us=1_800_000_000_000_000))
    assert engine.asked == 3


def test_the_memory_is_bounded_and_long_values_are_kept_by_their_digest() -> None:
    _, slice_ = counted(
        'permit (principal, action == Action::"search", resource) when { context.args has query && '
        'context.args.query like "a*" };'
    )
    kept = slice_._judge._verdicts
    for number in range(MEMO_MAX + 3):
        slice_.decide(request(arguments={"query": f"a{number}"}))
    assert len(kept) == 3
    slice_.decide(request(arguments={"query": "a" * 100_000}))
    assert max(len(view.context) for view in kept) < 300


def test_a_faulty_answer_is_not_remembered() -> None:
    broken = True

    def engine(question: Question) -> Reply:
        if broken:
            raise TimeoutError
        return cedar(question)

    slice_ = policies("permit (principal, action, resource);", evaluate=engine).slice(SEARCH, "acme")
    assert slice_.decide(request()).answer is Answer.DENY
    broken = False
    assert slice_.decide(request()).answer is Answer.ALLOW


OF_CALLER = """
    permit (principal in Group::"research", action, resource) when { context.run.confidentiality < 2 };
"""


@pytest.mark.requirement("POL-1")
def test_a_verdict_is_remembered_of_a_caller_and_what_its_run_has_read_and_of_no_other() -> None:
    told = policies(OF_CALLER).slice(SEARCH, "acme")
    secret = RunFacts("r", labels=Labels(Confidentiality.CONFIDENTIAL))
    asked = request()
    others = [replace(asked, run=secret), replace(asked, principal=replace(ALICE, groups=frozenset()))]
    found = [told.decide(each).answer for each in (asked, *others, replace(asked, arguments={"query": "2"}), *others)]
    assert found == [Answer.ALLOW, Answer.DENY, Answer.DENY, Answer.ALLOW, Answer.DENY, Answer.DENY]


def test_a_caller_that_is_gone_lends_its_verdict_to_nobody() -> None:
    """What is remembered by identity would be another's, were its place in memory given away."""
    told = policies(OF_CALLER).slice(SEARCH, "acme")
    for number in range(2 * CALLERS_MAX + 10):
        member = frozenset({"research"}) if number % 2 else frozenset[str]()
        verdict = told.decide(request(principal=replace(ALICE, groups=member)))
        assert verdict.answer is (Answer.ALLOW if number % 2 else Answer.DENY)
