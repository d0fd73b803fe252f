"""The values are new each time, and their events are ready for a chain."""

from interlock.core.chain import PayloadCheck, verify_payload
from interlock.testing.store_values import Values


def test_every_value_is_a_new_one_and_the_same_in_every_run() -> None:
    values = Values()
    assert values.operation() != values.operation()
    assert Values().operation() == Values().operation()


def test_an_event_commits_to_its_payloads() -> None:
    event = Values().event()
    committed = dict(event.commitments)
    for payload in event.payloads:
        check = verify_payload(committed[payload.name], salt=payload.salt, payload=payload.data)
        assert check is PayloadCheck.MATCHES


def test_a_resumed_intent_runs_the_operation_that_was_asked_about() -> None:
    values = Values()
    asking = values.asking("k")
    intent = values.resumed(asking)
    assert (intent.operation, intent.approval) == (asking.operation, asking.approval.id)
