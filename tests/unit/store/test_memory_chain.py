"""The chain in memory is a real one."""

from interlock.core.chain import genesis, verify_chain
from interlock.core.journal import AuditQuery
from interlock.store.memory_chain import MemoryChain
from interlock.testing.store_values import NOW_US, Values


def test_its_records_verify_before_and_after_retention() -> None:
    chain, values = MemoryChain("m"), Values()
    receipts = [chain.append(values.event(subject=str(number))) for number in range(5)]
    for open_subjects in (frozenset({"2"}), frozenset[str]()):
        chain.purge(NOW_US * 2, open_subjects=open_subjects)
        found = chain.records(AuditQuery())
        assert verify_chain([each.record for each in found], start=genesis("m")) == receipts[-1]
        assert [each.subject for each in found if len(each.payloads) == 2] == sorted(open_subjects)


def test_a_page_starts_after_its_place_in_this_chain_or_another() -> None:
    chain, values = MemoryChain("m"), Values()
    for _ in range(3):
        chain.append(values.event())
    for after, sequences in ((None, [1, 2, 3]), (("a", 9), [1, 2, 3]), (("m", 2), [3]), (("z", 0), [])):
        found = chain.records(AuditQuery(after=after))
        assert [each.record.sequence for each in found] == sequences
