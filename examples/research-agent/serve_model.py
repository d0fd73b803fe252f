"""Serves the small model on a port of this machine, for `interlock runs` and other programs, until Ctrl-C."""

from __future__ import annotations

import argparse
import socket
import sys
from collections.abc import Sequence
from threading import Event
from typing import Final

from model_server import MODEL_NAME, ModelUnavailable, running_model

PORT: Final = 8080
SETTINGS: Final = """\
The model listens. Write this into interlock.toml:

[[models]]
name = "small"
model = "openai-chat:{model}@{address}"
tokens_max = 80

Ctrl-C ends it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve it; the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/model", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help=f"where it listens on 127.0.0.1; default: {PORT}")
    port = parser.parse_args(arguments).port
    try:
        _refuse_taken(port)
        with running_model(port=port) as model:
            print(SETTINGS.format(model=MODEL_NAME, address=model.base_url), flush=True)
            Event().wait()
    except ModelUnavailable as fault:
        print(fault, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _refuse_taken(port: int) -> None:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as taken:
            raise ModelUnavailable(f"Port {port} cannot be had ({taken}): give another with --port.") from taken


if __name__ == "__main__":
    sys.exit(main())
