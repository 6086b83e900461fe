"""What `initialize` waits for."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """\
import sys
from shardlint.cli.commands import run
run(["server"])
print(*sys.modules, file=sys.stderr)
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"processId": None, "rootUri": None, "capabilities": {}},
}


def test_initialize_waits_for_nothing_heavy() -> None:
    """`initialize` is answered before jedi, pydantic, the parser, a terminal library or any part of the core is loaded."""
    body = json.dumps(INITIALIZE).encode()
    message = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    done = subprocess.run([sys.executable, "-c", SCRIPT], input=message, capture_output=True, check=True, timeout=60)
    assert b'"capabilities"' in done.stdout
    loaded = set(done.stderr.decode().split())
    assert "shardlint.lsp.server" in loaded
    heavy = {"jedi", "parso", "pydantic", "tree_sitter", "rich", "packaging", "shardlint.check", "shardlint.explain"}
    assert loaded & heavy == set()
    assert not [
        name for name in loaded if name.startswith(("shardlint.records", "shardlint.placement", "shardlint.syntax"))
    ]
