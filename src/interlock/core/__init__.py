"""What is true: types and pure functions, without I/O, clock or randomness."""
