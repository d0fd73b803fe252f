"""Is the process of the small model: llama.cpp's server with the weights that it is given, until its input closes.

It prints the address that it listens on. Its input also closes when the program that started it is killed, so it is
never left behind.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import xllamacpp

CHAT_TEMPLATE: Final = Path(__file__).resolve().parent / "chat_template.jinja"
CONTEXT_TOKENS: Final = 4096
# Half the cores: a thread of the server that waits for a core makes all its others wait with it (measured on two busy
# cores: an answer took 1-9 s with one thread, 1-60 s with two).
THREADS: Final = max(1, min(4, len(os.sched_getaffinity(0)) // 2))


def serve(weights: str, port: int = 0) -> xllamacpp.Server:
    """The server, already answering, on a port of the loopback address; 0: one that is free."""
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.n_ctx, params.n_parallel = CONTEXT_TOKENS, 1
    params.hostnames, params.port = ["127.0.0.1"], port
    params.cpuparams.n_threads = THREADS
    params.chat_template = CHAT_TEMPLATE.read_text(encoding="utf-8")
    return xllamacpp.Server(params)


if __name__ == "__main__":
    server = serve(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(server.listening_address, flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # the server's threads know no other end
