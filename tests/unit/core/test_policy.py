"""The policy set: what is refused when it is saved, whose policies decide for whom, what a change would change."""

from dataclasses import replace

import pytest

from interlock.core.call import Principal
from interlock.core.effect import Effect
from interlock.core.errors import PolicyInvalid
from interlock.core.policy import STARTER_POLICY, Answer, Mode, Outcome, PolicySet, PolicySource, Visibility
from interlock.core.tool import Document, ResourceRule
from tests.unit.core.policy_cases import ALICE, CATALOGUE, SAVE, SEARCH, decide, policies, request, tool

EVERYBODY = "permit (principal, action, resource);"


@pytest.mark.requirement("POL-1")
def test_what_no_policy_permits_is_denied() -> None:
    verdict = decide("", request())
    assert (verdict.answer, verdict.policies, verdict.reason) == (Answer.DENY, (), "no policy permits it")


@pytest.mark.requirement("POL-1")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '@id("p") permit (principal, action == Action::"search", resource) when { context.args.qery == "a" };',
            "policy main/p in main.cedar: there is no argument 'qery' that a policy can read; did you mean 'query'?",
        ),
        (
            'forbid (principal, action == Action::"search", resource) when { context.args has qery && true };',
            "did you mean 'query'?",
        ),
        ('permit (principal, action == Action::"serch", resource);', "no tool 'serch'; did you mean 'search'?"),
        ('permit (principal, action, resource) when { action == Action::"serch" };', "did you mean 'search'?"),
        ('permit (principal in Groop::"a", action, resource);', "did you mean 'Group'?"),
        ('permit (principal, action, resource) when { principal.grups.contains("a") };', "did you mean 'groups'?"),
        ('permit (principal, action == Action::"search", resource) when { context.args.query == "a" };', "optional"),
        ('permit (principal, action == Action::"search", resource) when { context.args has either };', "'either'"),
        (
            'permit (principal, action == Action::"save_draft", resource) when { context.tool.risk == "1" };',
            "not compatible",
        ),
        ("permit (principal, action, resource) when { context.facts.tickett };", "did you mean 'ticket'?"),
        ('permit (principal, action == Action::"read", resource);', "`action in`"),
        ("permit (principal == ?principal, action, resource);", "template"),
        ("permit (principal, action, resource", "main.cedar does not parse, in the policy that begins on line 1"),
        (
            'forbid (principal, action, resource);\n// "a;b"\n\n@id("x")\npermit (principal;\nforbid',
            "begins on line 4: ",
        ),
        ('@id("a") permit (principal, action, resource); @id("a") forbid (principal, action, resource);', "main/a"),
    ],
)
def test_a_policy_that_does_not_fit_the_catalogue_fails_when_it_is_saved(text: str, says: str) -> None:
    with pytest.raises(PolicyInvalid) as refused:
        policies(text)
    assert says in str(refused.value)


@pytest.mark.requirement("POL-1")
def test_every_version_of_a_tool_must_fit() -> None:
    newer = tool(version="2", input_schema=Document.of({"type": "object", "properties": {}}))
    text = 'permit (principal, action == Action::"search", resource) when { context.args has query };'
    rename = f'{text[:-3]} && context.args.query == "a" }};'
    policies(rename)
    typed = tool(
        version="2", input_schema=Document.of({"type": "object", "properties": {"query": {"type": "integer"}}})
    )
    with pytest.raises(PolicyInvalid, match="not compatible"):
        PolicySet([PolicySource("main", rename)], [*CATALOGUE, typed])
    PolicySet([PolicySource("main", EVERYBODY)], [*CATALOGUE, newer])


@pytest.mark.requirement("POL-1")
def test_a_version_is_checked_before_it_is_published_and_where_policies_do_not_fit_it_never_allowed() -> None:
    forbidding = 'forbid (principal, action == Action::"search", resource) when { context.args has query };'
    saved = policies(EVERYBODY + forbidding)
    without = tool(version="2", input_schema=Document.of({"type": "object", "properties": {}}))
    with pytest.raises(PolicyInvalid, match="no argument 'query'"):
        saved.check(without)
    unfit = saved.slice(without, "acme")
    verdict = unfit.decide(request(spec=without, arguments={}))
    assert (verdict.answer, verdict.reason) == (
        Answer.DENY,
        "the policies in force do not fit this version of the tool",
    )
    assert unfit.visibility(request().principal, environment="") is Visibility.NEVER
    assert saved.slice(tool(version="3"), "acme").spec.version == "3"


@pytest.mark.requirement("POL-1")
def test_a_version_that_does_not_fit_the_policies_of_any_one_tenant_is_refused() -> None:
    text = 'forbid (principal, action == Action::"search", resource) when { context.args has query };'
    saved = PolicySet([PolicySource("own", text, tenant="acme")], CATALOGUE)
    without = tool(version="2", input_schema=Document.of({"type": "object", "properties": {}}))
    saved.check(tool(version="2"))
    with pytest.raises(PolicyInvalid, match="acme:own/"):
        saved.check(without)
    saved.check(replace(without, tenant="globex"))


@pytest.mark.requirement("POL-1")
def test_a_group_policy_is_checked_against_tools_of_every_shape() -> None:
    condition = 'context.args has query && context.args.query == "a"'
    text = f'permit (principal, action in Action::"read", resource) when {{ {condition} }};'
    odd = tool("odd", input_schema=Document.of({"type": "object", "properties": {"query": {"type": "integer"}}}))
    PolicySet([PolicySource("main", text)], [SEARCH, tool("also")])
    with pytest.raises(PolicyInvalid, match="not compatible"):
        PolicySet([PolicySource("main", text)], [SEARCH, tool("also"), odd])


def test_a_tenants_use_of_a_fact_does_not_change_the_type_that_shared_policies_give_it() -> None:
    shared = PolicySource("main", 'forbid (principal, action, resource) when { context.facts.ticket == "BAD" };')
    own = PolicySource("own", "forbid (principal, action, resource) when { context.facts.ticket == 1 };", tenant="acme")
    for sources in ([shared, own], [own, shared]):
        with pytest.raises(PolicyInvalid, match=r"policy acme:own/.* not compatible"):
            PolicySet(sources, CATALOGUE)


def test_a_scope_may_name_several_tools_that_look_the_same() -> None:
    text = 'permit (principal, action in [Action::"search", Action::"also"], resource);'
    saved = PolicySet([PolicySource("main", text)], [SEARCH, tool("also")])
    assert saved.slice(SEARCH, "acme").decide(request()).answer is Answer.ALLOW


@pytest.mark.requirement("POL-1")
def test_policies_of_a_tenant_decide_for_its_principals_only() -> None:
    own = PolicySet([PolicySource("own", EVERYBODY, tenant="acme")], CATALOGUE)
    other = Principal("globex", "eve", groups=frozenset({"research"}))
    assert own.slice(SEARCH, "acme").decide(request()).answer is Answer.ALLOW
    assert own.slice(SEARCH, "globex").decide(request(principal=other)).answer is Answer.DENY
    assert own.slice(SEARCH, "acme").decide(request(principal=other)).answer is Answer.DENY


@pytest.mark.requirement("POL-1")
def test_a_tool_of_another_tenant_is_denied_whatever_policy_says() -> None:
    theirs = tool("theirs", tenant="globex")
    everybody = PolicySet([PolicySource("main", EVERYBODY)], [*CATALOGUE, theirs])
    assert everybody.slice(theirs, "acme").decide(request(theirs)).answer is Answer.DENY


def test_a_tenants_policy_cannot_name_a_tool_of_another_tenant() -> None:
    theirs = tool("theirs", tenant="globex")
    text = 'permit (principal, action == Action::"theirs", resource);'
    with pytest.raises(PolicyInvalid, match="no tool 'theirs'"):
        PolicySet([PolicySource("own", text, tenant="acme")], [*CATALOGUE, theirs])


@pytest.mark.requirement("POL-4")
def test_ids_stay_when_policies_are_moved_or_added() -> None:
    plain = 'permit (principal in Group::"a", action, resource);'
    first = policies(plain + EVERYBODY).slice(SEARCH, "acme").decide(request())
    moved = policies('forbid (principal in Group::"z", action, resource);' + EVERYBODY + plain)
    assert moved.slice(SEARCH, "acme").decide(request()).policies == first.policies
    named = decide(f'@id("all") {EVERYBODY}', request())
    assert named.policies == ("main/all",)
    owned = PolicySet([PolicySource("own", f'@id("all") {EVERYBODY}', tenant="acme")], CATALOGUE)
    assert owned.slice(SEARCH, "acme").decide(request()).policies == ("acme:own/all",)


@pytest.mark.requirement("POL-4")
def test_explain_shows_what_became_of_each_policy_and_what_it_reads() -> None:
    explained = policies(
        '@id("yes") permit (principal, action, resource);'
        '@id("no") permit (principal in Group::"sales", action, resource);'
        '@id("bad") forbid (principal, action == Action::"search", resource) when { context.args has count && '
        "context.args.count + 9223372036854775807 > 0 };"
        '@id("else") permit (principal, action == Action::"put_draft", resource);'
    ).explain(request(arguments={"count": 1}))
    outcomes = {trace.policy: (trace.outcome, trace.reads) for trace in explained.policies}
    assert outcomes == {
        "main/yes": (Outcome.SATISFIED, ()),
        "main/no": (Outcome.NOT_SATISFIED, ("principal.parents",)),
        "main/bad": (Outcome.ERROR, ("context.args.count",)),
    }
    assert explained.verdict.answer is Answer.DENY


@pytest.mark.requirement("POL-7")
def test_the_impact_of_a_change_names_the_tools_whose_rules_change() -> None:
    before, after = (
        policies(EVERYBODY),
        policies(EVERYBODY + 'forbid (principal, action in Action::"write", resource);'),
    )
    assert {(each.tool, each.tenant) for each in before.impact(after, CATALOGUE)} == {
        ("save_draft", "*"),
        ("send_mail", "*"),
    }
    assert before.impact(before, CATALOGUE) == ()


@pytest.mark.requirement("POL-7")
def test_a_log_only_policy_has_no_impact_and_keeps_the_digest() -> None:
    before = policies(EVERYBODY)
    trial = policies(EVERYBODY, log_only="forbid (principal, action, resource);")
    assert before.impact(trial, CATALOGUE) == ()
    enforced = PolicySet(
        [PolicySource("main", EVERYBODY), PolicySource("trial", "forbid (principal, action, resource);", Mode.ENFORCE)],
        CATALOGUE,
    )
    assert {each.tool for each in trial.impact(enforced, CATALOGUE)} == {spec.name for spec in CATALOGUE}


def test_a_policy_on_a_group_that_is_empty_today_is_a_warning_not_an_error() -> None:
    reads_only = PolicySet([PolicySource("starter", STARTER_POLICY)], [SEARCH])
    assert [each for each in reads_only.warnings if "nothing-destructive reaches no tool" in each]


def test_a_tool_called_like_a_group_of_actions_is_not_the_group() -> None:
    named = tool("read", effect=Effect.DESTRUCTIVE)
    saved = PolicySet(
        [PolicySource("main", 'permit (principal, action in Action::"read", resource);')], [named, SEARCH]
    )
    assert saved.slice(named, "acme").decide(request(named)).answer is Answer.DENY
    assert saved.slice(SEARCH, "acme").decide(request()).answer is Answer.ALLOW


def test_a_resource_type_that_is_no_identifier_is_refused() -> None:
    for name in ("User", "a-b", "if", "__x"):
        odd = tool("odd", resource=ResourceRule(name, "query"))
        with pytest.raises(PolicyInvalid, match="rename the type"):
            PolicySet([PolicySource("main", EVERYBODY)], [odd])


def test_slices_are_kept_and_follow_the_spec() -> None:
    saved = policies(EVERYBODY)
    first = saved.slice(SEARCH, "acme")
    assert saved.slice(SEARCH, "acme") is first
    assert saved.slice(tool(owner="others"), "acme") is not first
    assert saved.slice(SAVE, "acme").digest == first.digest
    assert saved.slice(SEARCH, "acme").decide(request(principal=ALICE)).slice_digest == first.digest


def test_two_sources_of_one_name_cannot_share_an_id() -> None:
    sources = [PolicySource("main", EVERYBODY), PolicySource("main", EVERYBODY)]
    with pytest.raises(PolicyInvalid, match="two policies are main/"):
        PolicySet(sources, CATALOGUE)
