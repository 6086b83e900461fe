"""The words of findings: what was seen, and nothing that was not."""

from __future__ import annotations

from shardlint.check import Snapshot, check
from shardlint.model import Target
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text

PROGRAM = """\
import hashlib
import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

x = jax.device_put(np.arange(16.0), NamedSharding(jax.make_mesh((8,), ("d",)), P("d")))
digest = hashlib.md5(x)
"""


def test_a_consumer_that_was_not_run_is_told_by_what_the_array_does(catalogue: Catalogue) -> None:
    """No page runs hashlib.md5; what it asks of the array was run."""
    (found,) = check(Snapshot("program.py", Text(PROGRAM), Target(("0.10.2",), True, "the test"), catalogue)).findings
    assert "hashlib.md5 asks for its memoryview, which raises BufferError: INVALID_ARGUMENT: " in found.message
