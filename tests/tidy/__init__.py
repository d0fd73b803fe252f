"""The machinery of `tests/test_tidy.py`: rules of style as functions from a source file to faults."""
