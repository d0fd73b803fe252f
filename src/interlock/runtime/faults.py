"""Reports a fault of a host's or a tool's code to the log, redacted, and to nobody else."""

from __future__ import annotations

import logging
import traceback

from interlock.core.redaction import Redactor


def report(
    log: logging.Logger, what: str, *, fault: BaseException, redactor: Redactor, level: int = logging.WARNING
) -> None:
    """The sentence and the stack trace, with every known secret removed."""
    trace = "".join(traceback.format_exception(fault))
    log.log(level, "%s\n%s", redactor.text(what), redactor.text(trace))
