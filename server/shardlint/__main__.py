"""`python -m shardlint`."""

import os
import sys

# `-m` puts the current folder before everything else, and with it a workspace's `click.py`. Up to here only what the
# interpreter has loaded by itself is used.
_HOME = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
if not sys.flags.safe_path and os.path.realpath(sys.path[0]) != _HOME:
    del sys.path[0]

from shardlint.cli.commands import main  # noqa: E402

main()
