"""The ways in which what a run is at is cut off from outside."""

from __future__ import annotations


class RunLost(Exception):
    """Somebody else has the run, or it is over: what was on its way here is not written."""


class Interrupted(Exception):
    """What was said to the run has to be looked at before it goes on."""


class CutOff(Exception):
    """What the run waited for was cancelled, and nobody wants the run to stop."""
