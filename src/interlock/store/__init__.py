"""Where it is kept: stores that hold one contract."""
