"""The tests; this file only makes `tests` one package, so that a test can import `tests.golden`."""
