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


UNKNOWN = """\
import cupy, hashlib, torch
import jax

def bridge(x, y: jax.Array):
    torch.from_dlpack(x)
    hashlib.md5(y)
    cupy.asarray(x)
    try:
        torch.from_dlpack(x)
    except BufferError:
        pass
    if len(y.sharding.device_set) == 1:
        torch.from_dlpack(y)
"""


def test_what_would_break_an_open_hand_off_is_told_as_it_was_seen(catalogue: Catalogue) -> None:
    """Where any array may come, the hand-off says what one on several devices does: only what was seen, not where the program deals
    with it, and not where the array is on one device.
    """
    report = check(Snapshot("bridge.py", Text(UNKNOWN), Target(("0.10.2",), True, "the test"), catalogue))
    told = [
        one.status.partition("With an array on several devices ")[2]
        .partition(" INVALID")[0]
        .partition(" If you know better")[0]
        for one in report.hand_offs
    ]
    assert told == [
        "torch.from_dlpack raises BufferError: __dlpack__ only supported for unsharded arrays.",
        "hashlib.md5 asks for its memoryview, which raises BufferError:",
        "",
        "",
        "",
    ]
    assert report.hand_offs[0].status.startswith("nothing is known of the value that comes here. ")
    assert not report.findings
