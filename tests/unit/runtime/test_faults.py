"""A fault of somebody else's code goes to the log, without a secret."""

import logging

import pytest

from interlock.core.redaction import Redactor
from interlock.runtime.faults import report


@pytest.mark.requirement("OBS-5", "EXEC-5")
def test_the_sentence_and_the_stack_trace_are_logged_without_known_secrets(caplog: pytest.LogCaptureFixture) -> None:
    redactor = Redactor(["tok-5f1e9c27aa"])
    with caplog.at_level(logging.WARNING):
        try:
            raise ValueError("it said tok-5f1e9c27aa")
        except ValueError as fault:
            report(logging.getLogger("interlock.test"), "tok-5f1e9c27aa failed", fault=fault, redactor=redactor)
    assert "Traceback" in caplog.text
    assert "ValueError" in caplog.text
    assert "tok-5f1e9c27aa" not in caplog.text
