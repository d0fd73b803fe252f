"""What a writer to PostgreSQL carries out: ops that share a transaction, and those that have one for themselves."""

from __future__ import annotations

from typing import Protocol, TypeVar

from interlock.core.errors import InterlockError
from interlock.store.postgres_line import Line
from interlock.store.postgres_sheet import Needs, Sheet

T_co = TypeVar("T_co", covariant=True)

OP_FAULTS = (InterlockError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Op(Protocol[T_co]):
    """One write that shares its transaction with others."""

    def needs(self, needs: Needs, sheet: Sheet) -> None:
        """Add the rows that it has to read, as far as that is known by now."""

    def run(self, sheet: Sheet) -> T_co:
        """Guard and change the sheet; one that raises has changed nothing."""


class Alone(Protocol[T_co]):
    """One write that has a transaction for itself."""

    async def carry_out(self, line: Line, sheet: Sheet) -> T_co:
        """All of it but what it appends to the sheet."""


class Nothing:
    """Changes nothing."""

    def needs(self, needs: Needs, sheet: Sheet) -> None:
        """None."""

    def run(self, sheet: Sheet) -> None:
        """Nothing."""


def carried_out(op: Op[object], sheet: Sheet) -> object:
    """What came of it, or its fault in its place."""
    try:
        return op.run(sheet)
    except OP_FAULTS as fault:
        return fault
