"""Decisions of a slice: what beats what, and that nothing that goes wrong allows."""

from dataclasses import replace

import pytest

from interlock.core.approval import Requirement
from interlock.core.call import Origin, Principal, PrincipalKind
from interlock.core.canonical import Json
from interlock.core.labels import Confidentiality, Labels
from interlock.core.policy import Answer, PolicyRequest, PolicySet, PolicySlice, PolicySource, Visibility
from interlock.core.resource import Resource
from interlock.core.run import RunFacts
from interlock.core.tool import Cost, Risk, ToolSpec
from tests.unit.core.policy_cases import ALICE, BOB, DRAFT, DROP, SAVE, SEARCH, SEND, decide, policies, request, tool

ALL = "permit (principal, action, resource);"
ASK = '@id("ask") @approval("lead") @lifetime("1h") @reason("Look.") permit (principal, action, resource);'
CONFIDENTIAL = RunFacts("r", 3, Labels(Confidentiality.CONFIDENTIAL), frozenset({"search"}))


def slice_of(text: str, spec: ToolSpec = SEARCH, *, log_only: str = "") -> PolicySlice:
    return policies(text, log_only=log_only).slice(spec, "acme")


@pytest.mark.requirement("POL-3")
def test_forbid_beats_ask_and_ask_beats_permit() -> None:
    assert decide(ALL, request()).answer is Answer.ALLOW
    assert decide(ALL + ASK, request()).answer is Answer.ASK
    forbidden = decide(f'{ALL}{ASK}@id("no") @reason("Closed.") forbid (principal, action, resource);', request())
    assert (forbidden.answer, forbidden.policies) == (Answer.DENY, ("main/no",))
    assert forbidden.reason == "forbidden by main/no: Closed."
    assert forbidden.requirement is None


@pytest.mark.requirement("POL-3", "APR-3")
def test_several_asks_add_up() -> None:
    second = '@id("two") @approval("legal") @quorum("2") @lifetime("2h") permit (principal, action, resource);'
    verdict = decide(ALL + ASK + second, request())
    assert verdict.requirement == Requirement(frozenset({"lead", "legal"}), 2, 3600, ("Look.",), distinct=True)
    assert {"main/ask", "main/two"} < set(verdict.policies)


@pytest.mark.requirement("POL-4", "APR-2")
def test_a_verdict_carries_sorted_ids_and_the_digest_of_the_slice() -> None:
    slice_ = slice_of(f'@id("b") {ALL} @id("a") permit (principal, action in Action::"read", resource);')
    verdict = slice_.decide(request())
    assert verdict.policies == ("main/a", "main/b")
    assert verdict.slice_digest == slice_.digest
    assert slice_.decide(request(replace(SEARCH, version="9"))).slice_digest == slice_.digest


@pytest.mark.requirement("POL-1")
def test_a_forbid_that_errors_denies() -> None:
    overflow = "context.args has count && context.args.count + 9223372036854775807 > 0 && false"
    text = f'{ALL} @id("bad") forbid (principal, action == Action::"search", resource) when {{ {overflow} }};'
    verdict = decide(text, request(arguments={"count": 1}))
    assert (verdict.answer, verdict.policies) == (Answer.DENY, ("main/bad",))
    assert verdict.reason.startswith("policy error")
    assert decide(text, request(arguments={"count": 0})).answer is Answer.ALLOW


@pytest.mark.requirement("POL-8")
@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        ({}, "deny"),
        ({"ticket": None}, "deny"),
        ({"ticket": 1}, "deny"),
        ({"ticket": "T-1"}, "allow"),
        ({"ticket": "BAD"}, "deny"),
    ],
)
def test_a_fact_that_did_not_arrive_or_has_another_type_denies(facts: dict[str, Json], answer: str) -> None:
    text = (
        ALL + 'forbid (principal, action, resource) when { context.facts has ticket && context.facts.ticket == "BAD" };'
    )
    slice_ = slice_of(text, SEND)
    assert slice_.facts == {"ticket"}
    verdict = slice_.decide(request(SEND, facts=facts))
    assert verdict.answer == answer
    if facts.get("ticket") != "BAD" and answer == "deny":
        assert "context.facts.ticket is" in verdict.reason


@pytest.mark.requirement("POL-2")
def test_an_attribute_of_the_resource_that_is_missing_or_of_another_type_denies() -> None:
    text = ALL + 'forbid (principal, action, resource is Draft) when { resource has owner && resource.owner == "eve" };'
    slice_ = slice_of(text, SAVE)
    assert slice_.reads_resource
    assert slice_.decide(request(SAVE)).answer is Answer.ALLOW
    wrong: list[dict[str, Json]] = [{"owner": "eve"}, {}, {"owner": None}, {"owner": 7}, {"owner": ["eve"]}]
    for attributes in wrong:
        resource = Resource("Draft", "r1", None, attributes)
        assert slice_.decide(request(SAVE, resource=resource)).answer is Answer.DENY, attributes
    assert slice_.decide(request(SAVE, resource=None)).reason == "the resource is not resolved, and policy reads it"


@pytest.mark.requirement("POL-2")
@pytest.mark.parametrize(
    "condition",
    [
        'principal is User && principal.id == "alice" && principal.tenant == "acme" && principal.kind == "human"',
        'principal.on_behalf_of == "alice" && principal in Group::"research" && principal in Tenant::"acme"',
        'principal == User::"alice" && !(principal in [Group::"a", Group::"b"])',
        'action == Action::"save_draft" && action in Action::"write" && action in Action::"effect"',
        'resource == Draft::"r1" && resource.id == "r1" && resource.owner == principal.id',
        'context.tool.name == "save_draft" && context.tool.version == "1" && context.tool.effect == "write"',
        'context.tool.risk == 2 && !context.tool.external && context.tool.tags.contains("paid")',
        'context.run.confidentiality >= 2 && context.run.tools.contains("search") && context.run.trust == 2',
        'context.agent == "helper" && context.door == "mcp" && context.environment == "prod"',
        'context.now.toTime() >= duration("9h") && context.now < datetime("2030-01-01")',
        'context.args.query == "x" && context.args has count && context.args.count == 3',
        'context.args has amount && context.args.amount.lessThan(decimal("2.51"))',
        'context.args has flag && context.args.flag && context.args has tags && context.args.tags.contains("a")',
        "context.args has page && context.args.page.size > 5 && !(context.args has note)",
    ],
)
def test_a_decision_sees_who_what_which_and_the_context(condition: str) -> None:
    spec = replace(SAVE, risk=Risk.HIGH, cost=Cost(tags=("paid",)), input_schema=tool(required=("query",)).input_schema)
    text = f'permit (principal, action == Action::"save_draft", resource is Draft) when {{ {condition} }};'
    asked = PolicyRequest(
        principal=ALICE,
        spec=spec,
        arguments={
            "query": "x",
            "count": 3,
            "amount": 2.5,
            "flag": True,
            "tags": ["a"],
            "page": {"size": 6},
            "note": None,
        },
        resource=DRAFT,
        run=CONFIDENTIAL,
        origin=Origin("mcp", "helper"),
        now_us=1_800_000_000_000_000 + 10 * 3_600_000_000,
        environment="prod",
    )
    verdict = PolicySet([PolicySource("main", text)], [spec]).slice(spec, "acme").decide(asked)
    assert verdict.answer is Answer.ALLOW, verdict.reason


@pytest.mark.requirement("POL-6")
def test_what_the_run_has_read_can_forbid_ask_or_redact() -> None:
    text = (
        '@id("send") @redact("iban") permit (principal, action == Action::"send_mail", resource) when '
        "{ context.run.confidentiality < 2 };"
        '@id("later") @approval("officer") @redact("name, iban") permit (principal, action == Action::"send_mail", '
        "resource) when { context.run.confidentiality == 2 };"
    )
    slice_ = slice_of(text, SEND)
    assert slice_.reads_run
    assert slice_.decide(request(SEND)).redact == {"iban"}
    later = slice_.decide(request(SEND, run=CONFIDENTIAL))
    assert (later.answer, sorted(later.redact)) == (Answer.ASK, ["iban", "name"])
    restricted = replace(CONFIDENTIAL, labels=Labels(Confidentiality.RESTRICTED))
    assert slice_.decide(request(SEND, run=restricted)).answer is Answer.DENY


@pytest.mark.requirement("POL-7")
def test_a_log_only_policy_is_recorded_and_changes_nothing() -> None:
    slice_ = slice_of(ALL, log_only='@id("no") forbid (principal, action, resource) when { context.agent == "x" };')
    quiet, noted = slice_.decide(request()), slice_.decide(request(origin=Origin(agent="x")))
    assert (quiet.answer, quiet.log_only) == (Answer.ALLOW, "")
    assert (noted.answer, noted.log_only) == (Answer.ALLOW, "deny: forbidden by trial/no")


@pytest.mark.requirement("POL-7")
def test_a_log_only_policy_that_errors_or_misses_a_fact_changes_nothing() -> None:
    broken = 'forbid (principal, action == Action::"send_mail", resource) when { context.facts.ticket == "BAD" };'
    slice_ = slice_of(ALL, SEND, log_only=broken)
    verdict = slice_.decide(request(SEND))
    assert (verdict.answer, verdict.log_only[:5]) == (Answer.ALLOW, "deny:")
    assert slice_.facts == {"ticket"}


@pytest.mark.requirement("POL-6")
def test_a_denial_names_all_that_a_permit_would_have_redacted() -> None:
    redacts = '@id("r") @redact("iban,name") permit (principal, action, resource) when { context.agent == "x" };'
    slice_ = slice_of(redacts)
    assert slice_.redact == {"iban", "name"}
    denied = slice_.decide(request())
    assert (denied.answer, denied.redact) == (Answer.DENY, slice_.redact)
    stranger = slice_.decide(request(principal=replace(ALICE, tenant="globex")))
    assert (stranger.answer, stranger.redact) == (Answer.DENY, slice_.redact)


@pytest.mark.requirement("POL-7")
def test_a_log_only_policy_that_would_redact_changes_no_denial() -> None:
    trial = '@id("r") @redact("iban") permit (principal, action, resource) when { context.agent == "x" };'
    slice_ = slice_of('@id("no") forbid (principal, action, resource);', log_only=trial)
    assert (slice_.redact, slice_.decide(request()).log_only) == (frozenset(), "")


@pytest.mark.requirement("POL-5")
def test_a_listing_answers_never_maybe_or_always() -> None:
    text = (
        'permit (principal in Group::"research", action, resource);'
        'forbid (principal, action == Action::"send_mail", resource) when { context.args has query && '
        'context.args.query like "*secret*" };'
        'forbid (principal, action in Action::"destructive", resource);'
    )
    saved = policies(text)
    seen = {spec.name: saved.slice(spec, "acme").visibility(ALICE, environment="") for spec in (SEARCH, SEND, DROP)}
    assert seen == {"search": Visibility.ALWAYS, "send_mail": Visibility.MAYBE, "drop_drafts": Visibility.NEVER}
    assert saved.slice(SEND, "acme").visibility(BOB, environment="") is Visibility.NEVER
    assert saved.slice(SEARCH, "acme").visibility(replace(ALICE, tenant="globex"), environment="") is Visibility.NEVER


@pytest.mark.requirement("POL-5")
def test_a_listing_neither_hides_nor_promises_what_depends_on_the_run() -> None:
    text = (
        ALL + "forbid (principal, action, resource) when { context.tool.external && context.run.confidentiality >= 2 };"
    )
    slice_ = slice_of(text, SEND)
    assert slice_.visibility(ALICE, environment="") is Visibility.MAYBE
    later = slice_of("permit (principal, action, resource) when { context.run.trust < 2 };", SEND)
    assert later.visibility(ALICE, environment="") is Visibility.MAYBE
    never = slice_of('permit (principal == User::"x", action, resource) when { context.run.trust < 2 };', SEND)
    assert never.visibility(ALICE, environment="") is Visibility.NEVER


@pytest.mark.requirement("POL-5")
def test_a_listing_knows_the_environment() -> None:
    slice_ = slice_of('permit (principal, action, resource) when { context.environment == "production" };', SEND)
    assert slice_.visibility(ALICE, environment="production") is Visibility.ALWAYS
    assert slice_.visibility(ALICE, environment="development") is Visibility.NEVER


@pytest.mark.requirement("POL-5")
def test_a_listing_hides_nothing_on_an_id_that_the_engine_cannot_read() -> None:
    slice_ = slice_of(
        'permit (principal == User::"x", action == Action::"send_mail", resource) when '
        '{ context.args has query && context.args.query == "a" };',
        SEND,
    )
    assert slice_.visibility(replace(ALICE, id="a\nb"), environment="") is Visibility.MAYBE
    assert slice_.visibility(replace(ALICE, id='a"b\\'), environment="") is Visibility.NEVER
    assert slice_.decide(request(SEND, {"query": "a"}, principal=replace(ALICE, id="a\nb"))).answer is Answer.DENY


def test_a_resource_of_another_type_and_another_tool_version_are_denied() -> None:
    slice_ = slice_of(ALL, SAVE)
    assert slice_.decide(request(SAVE, resource=Resource("Other", "r1"))).answer is Answer.DENY
    assert slice_.decide(request(replace(SAVE, version="2"))).answer is Answer.DENY
    assert slice_of(ALL).decide(request(resource=DRAFT)).answer is Answer.DENY


def test_agents_and_services_are_principals_of_their_own_kind() -> None:
    text = 'permit (principal is Agent, action, resource) when { principal.on_behalf_of == "alice" };'
    agent = Principal("acme", "bot", PrincipalKind.AGENT, acting_for="alice")
    assert decide(text, request(principal=agent)).answer is Answer.ALLOW
    assert decide(text, request(principal=replace(agent, acting_for="bob"))).answer is Answer.DENY
    assert decide(text, request()).answer is Answer.DENY
    assert decide(text, request(principal=replace(agent, kind=PrincipalKind.SERVICE))).answer is Answer.DENY
