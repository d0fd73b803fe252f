"""The contract of a store as tests, to be run against every store that is or will be.

    class TestMyStore(StoreContract):
        @pytest.fixture
        async def store(self) -> AsyncIterator[Store]: ...     an empty store, closed afterwards
        async def after_crash(self, store: Store) -> Store: ...     the same data as the next process finds it

The tests know the ports alone: what they ask is what `interlock.ports` promises.
"""

from __future__ import annotations

from interlock.testing.store_contract_approvals import ApprovalContract
from interlock.testing.store_contract_audit import AuditContract
from interlock.testing.store_contract_budgets import BudgetContract
from interlock.testing.store_contract_calls import CallContract
from interlock.testing.store_contract_catalogue import CatalogueContract
from interlock.testing.store_contract_recovery import RecoveryContract


class StoreContract(CallContract, BudgetContract, ApprovalContract, RecoveryContract, CatalogueContract, AuditContract):
    """Everything that a store promises."""
