"""A row of a proposal is read back as it was written; the rest is the contract's."""

from interlock.core.canonical import stored_json
from interlock.core.tool import spec_to_json
from interlock.store.postgres_closings import read_closing
from interlock.store.seal import NoSeal
from interlock.testing.store_contract_closings import CLOSING
from interlock.testing.store_values import TENANT


def test_a_proposal_is_read_back() -> None:
    row = ("operation-1", stored_json(spec_to_json(CLOSING)))
    assert read_closing(row, tenant=TENANT, seal=NoSeal()) == ("operation-1", CLOSING)
