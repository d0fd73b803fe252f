"""Tells by its address which kind of store is meant."""

from __future__ import annotations


def is_postgres(address: str) -> bool:
    """Whether the address is that of a PostgreSQL database; a SQLite store is named by its path."""
    return address.startswith(("postgres://", "postgresql://"))
