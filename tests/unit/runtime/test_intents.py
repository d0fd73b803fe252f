"""What a claim takes is what was decided: sealed only where it must be kept whole."""

from dataclasses import replace

from interlock.core.approval import Requirement
from interlock.core.catalogue import Catalogue
from interlock.core.decision import Allow, Ask
from interlock.core.policy import Answer, Verdict
from interlock.core.redaction import Redactor
from interlock.core.stored import thaw
from interlock.runtime.intents import approval_of, intent_of, stored_of
from tests.unit.core.call_cases import ALICE, NOW_US, facts, operation

YES = Verdict(Answer.ALLOW)


def test_an_intent_carries_the_epoch_and_moment_of_the_decision_and_what_it_holds() -> None:
    of = operation()
    seen = replace(facts(of), epoch=7)
    intent = intent_of(of, seen, Allow(YES), operation_id="op", event=None)
    assert (intent.epoch, intent.at_us, intent.reservations) == (7, seen.as_of_us, seen.reservations)
    assert (intent.operation.key, intent.ceiling, intent.fused) == (of.key, of.spec.labels, True)
    assert intent.lifetime_us == of.spec.idempotency.lifetime_s * 1_000_000


def test_only_what_must_be_kept_whole_is_sealed_and_comes_back_to_the_byte() -> None:
    of = operation()
    assert stored_of(of, "op", whole=False).sealed == b""
    stored = stored_of(of, "op", whole=True)
    again = thaw(stored.sealed, Catalogue({(of.spec.tenant, of.spec.name): of.tool}))
    assert (getattr(again, "arguments", None), stored.digest) == (of.arguments, of.digest)


def test_a_question_names_who_asked_and_for_whom_and_ends_with_its_lifetime() -> None:
    of = operation()
    ask = Ask(Requirement(lifetime_s=60), Verdict(Answer.ASK))
    approval = approval_of(of, facts(of), ask, ids=("a1", "o1"), redactor=Redactor())
    assert (approval.id, approval.operation_id) == ("a1", "o1")
    assert approval.requesters == {ALICE.id, ALICE.on_behalf_of}
    assert approval.expires_at_us == NOW_US + 60_000_000
    assert approval.binding.operation_digest == of.digest
