"""Runs here may be driven against a store in memory and one in a file: `gate_path`."""

from tests.gates import gate_path

__all__ = ["gate_path"]
