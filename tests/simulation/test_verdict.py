"""The judge finds what is wrong, and nothing wrong in what two processes wrote at once."""

from collections import Counter

import pytest

from interlock.core.approval import Approval, Binding, Requirement
from interlock.core.chain import Record
from interlock.core.journal import RECORD, AuditRecord, EventKind, Payload
from tests.simulation.people import TENANT
from tests.simulation.verdict import Facts, Left, verdict

BINDING = Binding("", "send", "1", "", "alice", "", None)
QUESTION = Approval("question", TENANT, "never", BINDING, Requirement(), "", 0, 9)
"""A question that waits yet."""


def record(kind: EventKind, subject: str, *, chain: str, at_us: int) -> AuditRecord:
    """A record about the key `k`."""
    said = Payload(RECORD, b"", b'{"key": "k", "tool": "send", "status": "ok"}')
    return AuditRecord(Record(chain, at_us, "", b""), TENANT, kind, at_us, "call", subject, (said,))


@pytest.mark.requirement("APR-4")
@pytest.mark.parametrize(("claimed_in", "is_wrong"), [("main", True), ("main.2", False)])
def test_a_question_is_asked_before_a_claim_only_where_one_chain_says_so(claimed_in: str, *, is_wrong: bool) -> None:
    asked = record(EventKind.WAITING, QUESTION.id, chain="main", at_us=1)
    claimed = record(EventKind.CLAIMED, "other", chain=claimed_in, at_us=2)
    settled = record(EventKind.SETTLED, "other", chain=claimed_in, at_us=3)
    found = verdict(Facts({}, Counter(), Counter(), ()), Left((asked, claimed, settled), (), (), (QUESTION,), None))
    assert found == ["a question still waits on a key that was claimed after it"] * is_wrong
