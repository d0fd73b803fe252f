"""The run: a machine held as tables, and what drives it."""
