"""The rules proven on real JAX, and the runner that proves them."""

from __future__ import annotations

import json
import os
import re
import sys
import venv
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from shardlint.records.cases import parse_cases
from shardlint.records.catalogue import Observation
from shardlint.records.observed import read_observations
from shardlint.verify import Status, VerifyReport, verify
from shardlint.verify.process import Job, VerifyError, run_jobs

pytest.importorskip("jax", reason="needs JAX: the `jax` dependency group")
pytest.importorskip("torch", reason="needs torch: the `jax` dependency group")
pytestmark = pytest.mark.jax

RECORDS = Path(__file__).parents[2] / "records"
RULES = sorted(path.parent.name for path in RECORDS.glob("*/rule.toml"))
RULE = """\
jax = ">=0.4.30"
[[fix]]
title = "Gather (copies {devices})"
"""
SETTINGS = """\
```toml
consumer = "numpy.take"
result = "x"
value = "np.arange(2, dtype=np.int32)"
```
"""
RAISES = "raise BufferError('only one')  # error: [rule]\n"

Verify = Callable[..., VerifyReport]


@pytest.fixture(scope="module")
def shipped() -> VerifyReport:
    return verify(RECORDS, (), None, lambda *_: None)


@pytest.fixture
def verify_page(tmp_path: Path) -> Verify:
    """Verifies one page of a rule that expects a BufferError with the text "only one"."""

    def run(*sections: str, limit: float = 60.0) -> VerifyReport:
        folder = tmp_path / "rule"
        folder.mkdir()
        record = {"errorClass": "BufferError", "messagePattern": "only one"}
        (folder / "record.json").write_text(json.dumps(record))
        (folder / "rule.toml").write_text(RULE)
        (folder / "cases.md").write_text("".join(f"# Case {n}\n{text}" for n, text in enumerate(sections, 1)))
        return verify(tmp_path, ["rule"], None, lambda *_: None, limit)

    return run


def program(source: str, settings: str = "") -> str:
    return f"{settings}```python\n{source}```\n"


def statuses(report: VerifyReport) -> list[Status]:
    return [outcome.status for outcome in report.outcomes]


def only_failure(report: VerifyReport) -> str:
    (failed,) = report.failed
    return failed.detail


_MISSING = re.compile(r"is not installed|needs a CUDA device|needs the platform|it is for JAX")


@pytest.mark.parametrize("rule", RULES)
def test_shipped_rules_do_what_their_pages_say(shipped: VerifyReport, rule: str):
    """Every marked line raises as told, every look-alike runs, every fix that can run here gives equal values. Nothing is seen only of
    a rule whose programs all need a library or a device that is not here.
    """
    own = [one for one in shipped.outcomes if one.rule == rule]
    assert [one.detail for one in own if one.status is Status.FAILED] == []
    assert any(one.status is Status.OBSERVED for one in own) or all(_MISSING.search(one.detail) for one in own)


@pytest.mark.parametrize("rule", RULES)
def test_what_is_kept_is_what_running_shows(shipped: VerifyReport, rule: str):
    """What `observed.json` tells of the versions installed here happens here."""
    seen = {_key(one): one for one in shipped.runs[rule].observations}
    kept = {_key(one): one for one in read_observations(RECORDS / rule)}
    ran = {one.case for one in shipped.outcomes if one.rule == rule and not one.fix and one.status is Status.OBSERVED}
    page = (RECORDS / rule / "cases.md").read_text(encoding="utf-8")
    cases = [case for case in parse_cases(page, rule) if case.title in ran and case.marks]
    assert {one.consumer for one in seen.values()} == {case.consumer for case in cases if case.consumer}
    assert {key: kept[key] for key in kept.keys() & seen.keys()} == {
        key: seen[key] for key in kept.keys() & seen.keys()
    }


def _key(one: Observation) -> tuple[str, ...]:
    return one.platform, one.jax, one.consumer, one.consumer_version


_TELLS_TRACERS = (
    "seen = []\nassert has_data(x)\njax.jit(lambda y: (seen.append(has_data(y)), y)[1])(x)\nassert seen == [False]\n"
)
SNIPPETS = {
    "sharded-dlpack-export": (
        "assert not can_be_handed_over(s)\nassert not can_be_handed_over(r)\nassert can_be_handed_over(x)\n"
        "jax.jit(lambda y: (can_be_handed_over(y), y)[1])(x)\n"
    ),
    "sharded-cuda-array-interface": "assert not has_cuda_array_interface(s)\nassert not has_cuda_array_interface(r)\n",
    "sharded-buffer-pointer": (
        "assert not has_one_pointer(s)\nassert not has_one_pointer(r)\nassert has_one_pointer(x)\n"
        "jax.jit(lambda y: (has_one_pointer(y), y)[1])(x)\n"
    ),
    "sharded-buffer-export": (
        "assert not has_one_buffer(s)\nassert not has_one_buffer(r)\nassert has_one_buffer(x)\n"
        "jax.jit(lambda y: (has_one_buffer(y), y)[1])(x)\n"
    ),
    "cross-device-zero-copy": (
        "assert numpy_can_share(x)\nassert not numpy_can_share(z)\n"
        "np.from_dlpack(x, device='cpu', copy=False)\nnp.testing.assert_array_equal(a, np.asarray(x))\n"
    ),
    "traced-dlpack-export": _TELLS_TRACERS,
    "prng-key-export": "assert is_typed_key(key)\nassert not is_typed_key(jax.random.PRNGKey(0))\n",
    "removed-to-dlpack": "assert has_to_dlpack() == (jax.__version_info__ < (0, 7, 0))\n",
    "removed-capsule-import": "assert speaks_dlpack(t)\nassert not speaks_dlpack(t.__dlpack__())\n",
    "buffer-format-unknown": "assert is_known_to_mpi(a)\nassert not is_known_to_mpi(x)\n",
    "buffer-used-as-array": "assert is_known_to_numba(a)\nassert not is_known_to_numba(x)\n",
    "capsule-wanted": "assert is_capsule(x.__dlpack__())\nassert not is_capsule(x)\n",
    "complex-meets-real": "assert is_real(x)\nassert not is_real(x + 1j)\n",
    "conjugate-bit-import": "assert may_leave(t)\nassert not may_leave(torch.ones(2, dtype=torch.complex64).conj())\nassert not may_leave(x)\n",
    "copying-asarray": "assert shares(x)\nassert not shares(s)\nassert not shares(r)\n",
    "dangling-pointer": "assert is_there(x)\nassert not is_there(a)\nx.delete()\nassert not is_there(x)\n",
    "device-of-another-process": "assert all(is_ours(device) for device in jax.local_devices())\n",
    "donation-refused-by-view": "assert not was_donated(x)\nx.delete()\nassert was_donated(x)\n",
    "dtype-beyond-warp": "assert has_warp_dtype(x)\nassert not has_warp_dtype(x + 1j)\n",
    "foreign-array-in-jax-function": "assert is_of_jax(x)\nassert is_of_jax(a)\nassert not is_of_jax(t)\n",
    "foreign-without-dlpack": "assert has_dlpack(t)\nassert has_dlpack(a)\nassert not has_dlpack(t.__dlpack__())\n",
    "from-dlpack-onto-many": "assert is_one(x.sharding)\nassert not is_one(s.sharding)\n",
    "ignored-import-copy": "assert is_copied(x, t)\nassert not is_copied(x, torch.from_dlpack(x))\n",
    "imaginary-part-dropped": "assert is_real(x)\nassert not is_real(x + 1j)\n",
    "incompatible-devices": "assert go_together(s, r)\nassert go_together(x, s)\nassert not go_together(z, s)\n",
    "jax-array-in-foreign-function": "assert is_tensor(t)\nassert not is_tensor(x)\n",
    "joined-replicas": "assert are_parts(s)\nassert not are_parts(r)\n",
    "list-of-arrays-to-tensor": "assert are_numbers([1.0, 2.0])\nassert not are_numbers([x[0], x[1]])\n",
    "masked-array-import": "assert is_plain(a)\nassert not is_plain(np.ma.array(a, mask=a > 1))\n",
    "mesh-of-one-buffer": 'one = jax.make_mesh((1,), ("d",), devices=jax.devices()[:1])\nassert has_buffer(x)\nassert not has_buffer(jax.device_put(x, NamedSharding(one, P())))\n',
    "mixed-comparison": "assert is_tensor(t)\nassert not is_tensor(x)\n",
    "mixed-index": "assert is_index(a)\nassert is_index(slice(1))\nassert not is_index(x)\nassert not is_index(t)\n",
    "mixed-operands": "assert is_tensor(t)\nassert not is_tensor(x)\n",
    "narrowed-conversion": "assert keeps_dtype(a)\nassert not keeps_dtype(np.arange(3))\n",
    "narrowed-import": "assert keeps_dtype(a)\nassert not keeps_dtype(np.arange(3))\n",
    "negative-bit-import": "assert may_leave(t)\nassert not may_leave(torch.ones(2, dtype=torch.complex64).conj().imag)\n",
    "non-addressable-iteration": "assert can_be_read(s)\nassert not can_be_read(a)\n",
    "non-addressable-read": "assert can_be_read(s)\nassert not can_be_read(a)\n",
    "non-addressable-text": "assert can_be_read(s)\nassert not can_be_read(a)\n",
    "object-array-conversion": "assert has_numbers(x)\nassert not has_numbers(jax.eval_shape(lambda y: y, x))\n",
    "partial-shard": "assert one_shard_is_all(r)\nassert one_shard_is_all(x)\nassert not one_shard_is_all(s)\n",
    "per-process-device-put": "assert not is_global(s.sharding)\n",
    "pickle-drops-sharding": "assert is_on_one_device(x)\nassert not is_on_one_device(s)\n",
    "process-local-pointer": "assert is_ours(s)\nassert not is_ours(a)\n",
    "read-only-dlpack-import": "assert not is_writable(a)\nassert is_writable(np.array(x))\n",
    "read-only-write": "assert not is_writable(a)\nassert is_writable(np.array(x))\n",
    "rebound-in-place": "assert is_numpy(a)\nassert not is_numpy(x)\n",
    "ref-export": "assert is_array(x)\nassert not is_array(jax.new_ref(x))\n",
    "refused-dtype": "assert has_numpy_dtype(x)\nassert not has_numpy_dtype(x.astype(jnp.bfloat16))\n",
    "shared-memory-write": "arrays = [x]\nassert owns_its_memory(t)\nassert not owns_its_memory(torch.from_dlpack(x))\n",
    "silent-host-copy": "assert is_on_one_device(x)\nassert not is_on_one_device(s)\nassert not is_on_one_device(a)\n",
    "spanning-array-device-put": "assert is_ours(s)\nassert not is_ours(a)\n",
    "strided-dlpack-import": "assert is_compact(a)\nassert not is_compact(a[::2])\nassert is_compact(t)\nassert not is_compact(t[::2])\n",
    "text-tensor-import": "import types\ntf = types.SimpleNamespace(string='string')\nassert is_of_numbers(t)\nassert not is_of_numbers(types.SimpleNamespace(dtype='string'))\n",
    "torch-grad-import": "assert may_leave(t)\nassert not may_leave(torch.ones(2, requires_grad=True))\nassert not may_leave(x)\n",
    "traced-buffer-export": _TELLS_TRACERS,
    "traced-numpy-conversion": _TELLS_TRACERS,
    "traced-scalar-read": _TELLS_TRACERS,
    "transposed-dlpack-import": "assert is_compact(t)\nassert not is_compact(t.reshape(4, 4).t())\n",
    "unaligned-dlpack-import": "whole = torch.empty(64, dtype=torch.float32)\nfirst = next(i for i in range(16) if whole[i:].data_ptr() % 64 == 0)\nassert is_aligned(whole[first:])\nassert not is_aligned(whole[first + 1:])\n",
    "unconvertible-foreign-array": "import types\nwp = types.SimpleNamespace(array=type('array', (), {}))\nassert is_known(x)\nassert not is_known(wp.array())\n",
    "untiled-process-allgather": "assert is_ours(s)\nassert not is_ours(a)\n",
    "use-after-donation": "assert is_there(x)\nassert not is_there(a)\nx.delete()\nassert not is_there(x)\n",
}
PRELUDE = """\
import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((8,), ("d",))
s = jax.device_put(np.arange(16, dtype=np.float32), NamedSharding(mesh, P("d")))
r = jax.device_put(np.arange(16, dtype=np.float32), NamedSharding(mesh, P()))
x = jnp.arange(16.0)
z = jax.device_put(x, jax.devices()[1])
t = torch.arange(16, dtype=torch.float32)
key = jax.random.key(0)
"""


READERS_OWN = """\
import io
import warnings
from jax.experimental import multihost_utils
whole = np.zeros(32, np.float32)
a = whole[-whole.ctypes.data % 64 // whole.itemsize :][:16]
buffer = np.zeros(16, np.float32)
d = jax.eval_shape(lambda y: y, x)
device = jax.local_devices()[0]
f = update = jax.jit(lambda y: y + 1)
file = io.BytesIO()
index = np.arange(3)
items = [jnp.float32(0), jnp.float32(1)]
m = np.ma.array(np.arange(3.0))
ref = jax.new_ref(jnp.arange(16.0))
sharding = x.sharding
v = x
work = torch.sum
y = x * 2
"""
"""What the code in records takes for granted: `a` begins where JAX needs no copy."""


@pytest.mark.parametrize("rule", RULES)
def test_the_code_in_records_runs(rule: str):
    """Check, guard and handler of a record are true: the guard tells the arrays apart, the others end without an error. Where all that
    is guilty on the page needs a library that is not here, so do these, and only the guard is run.
    """
    page = parse_cases((RECORDS / rule / "cases.md").read_text(encoding="utf-8"), rule)
    here = any(all(map(find_spec, case.needs)) for case in page if case.marks)
    record = json.loads((RECORDS / rule / "record.json").read_text(encoding="utf-8"))
    sources = [
        PRELUDE + f"x = {array}\n" + READERS_OWN + record[field] + "\n"
        for field in ("validationCode", "tryCatchPattern")
        if record[field] and here
        for array in (("s", "r", "x") if rule.startswith("sharded") else ("x", "z"))
    ]
    if record["typeGuard"]:
        sources.append(PRELUDE + "a = np.asarray(x)\n" + record["typeGuard"] + "\n" + SNIPPETS[rule])
    jobs = [Job(index, source, (), None, None) for index, source in enumerate(sources)]
    answers = run_jobs(Path(sys.executable), 8, jobs, 120.0)
    assert [(answers[job.id].raised, answers[job.id].died) for job in jobs] == [((), None)] * len(jobs)


def test_a_page_that_tells_the_truth_is_observed(verify_page: Verify):
    """The exception at the marked line, the equal values of the fix and the fine program are all seen, and kept."""
    fixed = '```python fix="Gather (copies 8 devices)"\nimport numpy as np\nx = np.arange(2, dtype=np.int32)\n```\n'
    report = verify_page(program("x = 1\n" + RAISES, SETTINGS) + fixed, program("x = 1\n"))
    assert statuses(report) == [Status.OBSERVED] * 3
    (kept,) = report.runs["rule"].observations
    assert (kept.consumer, kept.exception, kept.message) == ("numpy.take", "BufferError", "only one")
    assert kept.fixed == ("Gather (copies {devices})",)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 1  # error: [rule]\n", "cases.md:3: this line is marked, but it raised nothing or was not reached."),
        (
            "def f():\n    raise BufferError('only one')\n\n\nf()  # error: [rule]\n",
            "cases.md:4: this line is not marked, but raised BufferError: only one.",
        ),
        (
            "x = 1\nraise ValueError('only one')  # error: [rule]\n",
            "cases.md:4: expected BufferError, but this line raised ValueError: only one.",
        ),
        (
            "raise BufferError('two')  # error: [rule]\n",
            "cases.md:3: expected a message that matches 'only one', but this line raised BufferError: two.",
        ),
        ("x = y\n", "cases.md:3: this line is not marked, but raised NameError: name 'y' is not defined."),
        ("x = 1\nx = (\n", "cases.md:4: this line is not marked, but raised SyntaxError"),
    ],
)
def test_a_page_that_does_not_is_told_where(verify_page: Verify, source: str, told: str):
    """The sentence names the line of the page, what it claims and what happened."""
    assert told in only_failure(verify_page(program(source)))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("np.array([0, 2], np.int32)", "`x` is [0 2], not [0 1]"),
        ("np.arange(2, dtype=np.int8)", "`x` is int8 of shape (2,), not int32 of shape (2,)"),
        ("np.arange(3, dtype=np.int32)", "`x` is int32 of shape (3,), not int32 of shape (2,)"),
        ("1 / 0", "this line is not marked, but raised ZeroDivisionError"),
    ],
)
def test_a_fix_that_gives_other_data_fails(verify_page: Verify, value: str, told: str):
    """Values, dtype and shape all count, and a fixed program must run."""
    fixed = f'```python fix="Gather (copies 8 devices)"\nimport numpy as np\nx = {value}\n```\n'
    report = verify_page(program(RAISES, SETTINGS) + fixed)
    assert told in only_failure(report)
    assert report.runs["rule"].observations[0].fixed == ()


def test_an_exception_may_be_told_by_a_base_of_its_class(verify_page: Verify):
    """What a handler would catch counts; kept is the class that was raised."""
    settings = '```toml\nconsumer = "numpy.take"\nexception = "LookupError"\n```\n'
    report = verify_page(program("raise KeyError('only one')  # error: [rule]\n", settings))
    assert statuses(report) == [Status.OBSERVED]
    assert [kept.exception for kept in report.runs["rule"].observations] == ["KeyError"]


def test_every_marked_line_is_run(verify_page: Verify):
    """A marked line that raises does not hide the next one; what only misses its name is no failure of its own."""
    source = RAISES + "from jax import no_such_thing  # error: [rule]\n"
    assert "cases.md:4: expected BufferError, but this line raised ImportError" in only_failure(
        verify_page(program(source))
    )


def test_a_use_of_what_failed_to_be_imported_counts_as_marked(verify_page: Verify):
    """The line that uses a name whose import is marked raises a NameError, for the same reason."""
    settings = '```toml\nexception = "ImportError"\n```\n'
    source = "from jax import no_such_thing  # error: [rule]\nno_such_thing()  # error: [rule]\n"
    assert statuses(verify_page(program(source, settings))) == [Status.OBSERVED]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_crash_costs_only_its_case(verify_page: Verify):
    """The program that takes the interpreter down is told by its signal, and those after it are run."""
    crash = program("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    leave = program("import os\nos._exit(7)\n")
    report = verify_page(program(RAISES), crash, leave, program(RAISES))
    assert statuses(report) == [Status.OBSERVED, Status.FAILED, Status.FAILED, Status.OBSERVED]
    assert [one.detail.split(": ", 1)[1] for one in report.failed] == [
        "the process was ended by SIGSEGV while it ran this program.",
        "the process ended with exit code 7 while it ran this program.",
    ]


SILENT = """\
```toml
consumer = "numpy.take"
expect = "aliasing"
shows = "kept[0] == 7"
result = "x"
value = "np.arange(2, dtype=np.int32)"
```
"""
WRITES = "import numpy as np\nx = np.arange(2, dtype=np.int32)\nkept = x  # warning: [rule]\nx[0] = 7\n"


def fixed_by(source: str) -> str:
    return f'```python fix="Gather (copies 8 devices)"\nimport numpy as np\n{source}```\n'


def test_what_is_silent_is_seen_afterwards(verify_page: Verify):
    """The expression is true after the program and false after the fix; a name that the fix left out counts as false."""
    copied = fixed_by("x = np.arange(2, dtype=np.int32)\nkept = x + 1\nkept[0] = 1\n")
    report = verify_page(
        program(WRITES, SILENT) + copied,
        program(WRITES, SILENT) + fixed_by("x = np.arange(2, dtype=np.int32)\n"),
    )
    assert statuses(report) == [Status.OBSERVED] * 4
    (kept,) = report.runs["rule"].observations
    assert (kept.kind, kept.exception, kept.fixed) == ("aliasing", None, ("Gather (copies {devices})",))


@pytest.mark.parametrize(
    ("source", "after", "told"),
    [
        (WRITES.replace("= x ", "= x + 0 "), "", "cases.md:10: `kept[0] == 7` is not true after the program."),
        ("x = 1  # warning: [rule]\n", "", "is not true after the program (NameError: name 'kept' is not defined)."),
        (WRITES.replace("kept = x", "kept = 1"), "", "(TypeError: 'int' object is not subscriptable)."),
        ("raise ValueError('no')  # warning: [rule]\n", "", "`expect` is aliasing, but raised ValueError: no."),
        (WRITES, "x = np.arange(2, dtype=np.int32)\nkept = [7]\n", "after the fix `kept[0] == 7` is still true."),
        (WRITES, "x = np.arange(2, dtype=np.int32)\nkept = 1\n", "after the fix `kept[0] == 7` cannot be evaluated"),
    ],
)
def test_what_is_not_seen_is_told(verify_page: Verify, source: str, after: str, told: str):
    """A page that claims a silent outcome proves it, before and after its fix."""
    report = verify_page(program(source, SILENT) + (fixed_by(after) if after else ""))
    assert told in only_failure(report)


def test_a_late_error_comes_from_another_line(verify_page: Verify):
    """The marked line lets a later one raise; its exception is kept."""
    settings = '```toml\nexpect = "late-error"\nconsumer = "numpy.take"\n```\n'
    late = "x = 1  # error: [rule]\nraise BufferError('only one')\n"
    report = verify_page(
        program(late, settings), program(RAISES, settings), program("x = 1  # error: [rule]\n", settings)
    )
    assert statuses(report) == [Status.OBSERVED, Status.FAILED, Status.FAILED]
    (kept,) = report.runs["rule"].observations
    assert (kept.kind, kept.exception) == ("late-error", "BufferError")
    assert [one.detail.split(": ", 1)[1] for one in report.failed] == [
        "this line should let a later one fail, but raised BufferError: only one itself.",
        "`expect` is late-error, but nothing was raised.",
    ]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_crash_is_seen_on_its_line(verify_page: Verify):
    """The interpreter goes down on the marked line, and on no other; how it ended is kept."""
    settings = '```toml\nexpect = "crash"\nconsumer = "os.kill"\n```\n'
    dies = "import os\nos.kill(os.getpid(), 6)  # error: [rule]\n"
    elsewhere = "import os\nx = 1  # error: [rule]\nos.kill(os.getpid(), 6)\n"
    report = verify_page(*(program(one, settings) for one in (dies, elsewhere, "x = 1  # error: [rule]\n")))
    assert statuses(report) == [Status.OBSERVED, Status.FAILED, Status.FAILED]
    (kept,) = report.runs["rule"].observations
    assert (kept.kind, kept.exception, kept.message) == ("crash", None, "was ended by SIGABRT")
    assert (
        "cases.md:18: this line is not marked, but the process was ended by SIGABRT on it." in report.failed[0].detail
    )
    assert "should go down, but did not" in report.failed[1].detail


TOGETHER = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.distributed.initialize()
mesh = Mesh(np.array(jax.devices()), ("d",))
x = jax.make_array_from_callback((4,), NamedSharding(mesh, P("d")), lambda at: np.arange(4.0)[at])
"""


def test_several_processes_run_a_program_together(verify_page: Verify):
    """Each has its devices, they compute together, and what is told must hold in every one."""
    two = '```toml\nprocesses = 2\ndevices = 2\nconsumer = "numpy.asarray"\n'
    silent = two + 'expect = "silent-partial"\nshows = "{}"\n```\n'
    raises = two + 'exception = "RuntimeError"\nmessage = "non-addressable"\n```\n'
    part = TOGETHER + "y = x.addressable_shards  # warning: [rule]\ntotal = float(jnp.sum(x))\n"
    report = verify_page(
        program(part, silent.format("len(y) == 2 and len(jax.devices()) == 4 and total == 6.0")),
        program(TOGETHER + "np.asarray(x)  # error: [rule]\n", raises),
        program(part, silent.format("jax.process_index() == 0")),
    )
    assert statuses(report) == [Status.OBSERVED, Status.OBSERVED, Status.FAILED]
    assert "is not true after the program" in only_failure(report)


def test_a_program_without_end_costs_only_its_case(verify_page: Verify):
    """A process that takes too long is ended; its program is told, and those after it are run."""
    report = verify_page(program("import threading\nthreading.Event().wait()\n"), program(RAISES), limit=5.0)
    assert statuses(report) == [Status.FAILED, Status.OBSERVED]
    assert "was ended after 5 seconds" in only_failure(report)


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ('needs = ["no_such_module"]', "no_such_module is not installed"),
        ('needs = ["cuda"]', "it needs a CUDA device"),
        ('platform = "tpu"', "it needs the platform tpu"),
        ('runs-on = "<0.1"', "it is for JAX <0.1, and this is JAX "),
        ('expect = "silent-copy"', "does not show whether data were copied"),
    ],
)
def test_what_cannot_run_here_is_not_observed(verify_page: Verify, setting: str, reason: str):
    """It is told as such, with the reason, and nothing of it is kept."""
    settings = f'```toml\nconsumer = "numpy.take"\n{setting}\n```\n'
    report = verify_page(program(RAISES, settings))
    assert statuses(report) == [Status.NOT_OBSERVED]
    assert reason in report.outcomes[0].detail
    assert report.runs["rule"].observations == ()


def test_programs_see_forced_devices_and_nothing_of_each_other(verify_page: Verify, monkeypatch: pytest.MonkeyPatch):
    """Each program has names of its own and as many devices as it asks for, whatever JAX settings we run under."""
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    count = "import jax\nassert len(jax.devices()) == {}\nassert not jax.config.jax_enable_x64\nassert 'left' not in dir()\nleft = 1\n"
    two = "```toml\ndevices = 2\n```\n"
    report = verify_page(program(count.format(8)), program(count.format(8)), program(count.format(2), two))
    assert [one.detail for one in report.failed] == []


def test_messages_do_not_tell_where_libraries_lie(verify_page: Verify):
    """What is kept is the same on every machine."""
    settings = '```toml\nconsumer = "jax.no_such_thing"\nexception = "ImportError"\n```\n'
    report = verify_page(program("from jax import no_such_thing  # error: [rule]\n", settings))
    (kept,) = report.runs["rule"].observations
    assert kept.message == "cannot import name 'no_such_thing' from 'jax' (jax/__init__.py)".replace("/", os.sep)


def test_a_fix_that_the_rule_does_not_have_is_an_error(verify_page: Verify):
    """A page cannot show a title that no fix of the rule would have."""
    with pytest.raises(VerifyError, match=r"cases\.md:10: rule\.toml has no fix that is shown as 'Scatter'\."):
        verify_page(program(RAISES, SETTINGS) + '```python fix="Scatter"\nx = 1\n```\n')


def test_an_unknown_rule_is_told_with_those_there_are():
    """A misspelt name is answered with the right ones."""
    with pytest.raises(VerifyError, match=f"no rule called sharded in .*{RULES[0]}"):
        verify(RECORDS, ["sharded"], None, lambda *_: None)


def test_progress_names_each_rule_once(verify_page: Verify, tmp_path: Path):
    """Whoever waits is told what comes next and how much there is."""
    verify_page(program("x = 1\n"))
    told: list[tuple[str, int, int]] = []
    verify(tmp_path, (), None, lambda *step: told.append(step))
    assert told == [("rule", 0, 1)]


def test_a_python_that_cannot_be_used_is_told(tmp_path: Path):
    """No Python at that path, and a Python without JAX."""
    with pytest.raises(VerifyError, match="cannot be started"):
        verify(RECORDS, (), tmp_path / "python", lambda *_: None)
    venv.create(tmp_path / "empty", symlinks=os.name == "posix")
    python = tmp_path / "empty" / ("bin/python" if os.name == "posix" else "Scripts/python.exe")
    with pytest.raises(VerifyError, match="has no JAX installed"):
        verify(RECORDS, (), python, lambda *_: None)


def test_every_snippet_rule_is_covered():
    """A new rule with a guard needs a line here that puts it to the test."""
    records = {rule: json.loads((RECORDS / rule / "record.json").read_text(encoding="utf-8")) for rule in RULES}
    assert set(SNIPPETS) == {rule for rule, record in records.items() if record["typeGuard"]}
