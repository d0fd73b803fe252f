"""An example as data: what it leaves out, and how it must not contradict itself."""

from interlock.core.call import PrincipalKind
from interlock.core.example import ExampleCaller, ExampleKind, Expected, ToolExample, domain_of, plain
from interlock.core.observation import Status
from interlock.core.tool import Document
from tests.library import example, spec


def test_what_is_as_it_would_be_anyway_is_not_written_down() -> None:
    assert plain(example()) == {"name": "one", "tool": "look", "kind": "typical", "expected": {"status": "ok"}}


def test_two_examples_that_say_the_same_have_one_digest() -> None:
    assert example().digest == example(caller=ExampleCaller()).digest
    assert example().digest != example(arguments=Document.of({"title": "other"})).digest


def test_a_caller_is_a_principal_of_the_tenant_with_the_claims_that_can_be_injected() -> None:
    caller = ExampleCaller(
        id="bot", kind=PrincipalKind.AGENT, acting_for="alice", claims=Document.of({"region": "eu", "bad": [1]})
    )
    principal = caller.principal("acme")
    assert (principal.tenant, principal.on_behalf_of, dict(principal.claims)) == ("acme", "alice", {"region": "eu"})


def test_a_tool_belongs_to_the_domain_of_its_business_owner_else_of_its_owner() -> None:
    assert domain_of(spec(owner="notes")) == "notes"
    assert domain_of(spec(owner="notes", business_owner="sales")) == "sales"


def test_a_kind_is_written_as_its_value() -> None:
    said = plain(
        ToolExample(name="n", tool="t", kind=ExampleKind.PERMISSION_DENIED, expected=Expected(status=Status.REFUSED))
    )
    assert isinstance(said, dict)
    assert said["kind"] == "permission_denied"
