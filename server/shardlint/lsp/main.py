"""Serving one client over standard input and output."""

from __future__ import annotations

import contextlib
import logging
import sys

from shardlint.lsp.engine import core
from shardlint.lsp.server import ShardlintServer, build


def main() -> int:
    """Serve the client at the other end of stdin and stdout until it says `exit` or is gone.

    Returns the exit code that LSP asks for. pygls catches the SystemExit by which it wants to give it, so it has to be asked.
    """
    return serve(build(core()))


def serve(server: ShardlintServer) -> int:
    """Like `main`, for a server that was put together elsewhere."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="shardlint: %(levelname)s: %(message)s")
    logging.getLogger("pygls").setLevel(logging.ERROR)
    wire = sys.stdout.buffer
    with contextlib.redirect_stdout(sys.stderr):  # a stray print would break the stream of messages
        server.start_io(sys.stdin.buffer, wire)
    return server.protocol.exit_code
