"""What a person tells by name, and what is said where a claim would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from shardlint.check import Report, Snapshot, check
from shardlint.model import Target
from shardlint.records.catalogue import Catalogue, load
from shardlint.text import Text

HEAD = (
    "import jax, jax.numpy as jnp, numpy as np, their_lib\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"
)
SHARDED = "jax.device_put(jnp.zeros(8), NamedSharding(jax.make_mesh((8,), ('d',)), P('d')))"

Make = Callable[..., Snapshot]


def assuming(snapshot: Make, source: str, **words: str) -> Report:
    """Check a module `p` with these claims, two underscores for each dot of a name."""
    assume = {name.replace("__", "."): word.replace("_", "-") for name, word in words.items()}
    return check(replace(snapshot(HEAD + source), module="p", assume=assume))


def told(report: Report) -> list[tuple[str, str]]:
    """The rule and the last step of each finding."""
    return [(one.rule, one.steps[-1].text) for one in report.findings]


def test_the_parameter_of_a_function(snapshot: Make) -> None:
    """A parameter is claimed by the function's name and its own."""
    source = "class Bridge:\n    def export(self, x):\n        return np.from_dlpack(x)\n"
    assert told(assuming(snapshot, source)) == []
    found = assuming(snapshot, source, p__Bridge__export__x="many_devices")
    assert told(found) == [("sharded-dlpack-export", "said by `assume` to be on many devices")]


def test_a_function_of_another_library(snapshot: Make) -> None:
    """What a library's function gives is claimed by the function's name, however the program imports it."""
    for call in ("their_lib.load()", "load()"):
        source = f"from their_lib import load\nnp.from_dlpack({call})\n"
        assert told(assuming(snapshot, source)) == []
        found = assuming(snapshot, source, their_lib__load="many_devices")
        assert told(found) == [("sharded-dlpack-export", "said by `assume` to be on many devices")]


def test_a_mesh_by_its_variable(snapshot: Make) -> None:
    """A mesh that nobody knows has the devices that are claimed, and what is put on it too."""
    source = "MESH = their_lib.mesh()\nnp.from_dlpack(jax.device_put(jnp.zeros(8), NamedSharding(MESH, P('d'))))\n"
    assert told(assuming(snapshot, source, p__MESH="one_device")) == []
    found = assuming(snapshot, source, p__MESH="many_devices")
    assert [one.text for one in found.findings[0].steps] == [
        "said by `assume` to be on many devices",
        "jax.device_put puts it on 2 devices or more",
    ]


def test_a_comment_comes_before_a_name(snapshot: Make) -> None:
    """What stands in the code is nearer than what stands in the configuration."""
    source = "x = their_lib.load()  # shardlint: placement=one-device\nnp.from_dlpack(x)\n"
    assert told(assuming(snapshot, source, p__x="many_devices")) == []


def test_a_wrong_claim_by_name(snapshot: Make) -> None:
    """It is found at the name that it speaks of, and the steps lead there."""
    source = f"def load():\n    return {SHARDED}\n"
    (found,) = assuming(snapshot, source, p__load="one_device").findings
    text = Text(HEAD + source)
    assert text.slice(found.location.span) == "load"
    assert (
        found.message == "`assume` says that what `load` returns is on one device, but it is a JAX array on 8 devices."
    )
    assert [step.text for step in found.steps] == [
        "jax.make_mesh makes a mesh over 8 devices",
        "jax.device_put puts it on 8 devices",
    ]


def test_several_processes_are_many_devices(snapshot: Make) -> None:
    """The word is kept in the evidence."""
    source = "x = their_lib.load()  # shardlint: placement=spans-processes\nnp.from_dlpack(x)\n"
    assert told(assuming(snapshot, source)) == [
        ("sharded-dlpack-export", "said by a comment to be on devices of several processes")
    ]


def test_a_wrong_claim_can_be_ignored(snapshot: Make) -> None:
    """It is kept quiet about like any rule."""
    made = snapshot(HEAD + f"x = {SHARDED}  # shardlint: placement=one-device\n")
    assert [one.rule for one in check(made).findings] == ["wrong-placement-claim"]
    assert check(replace(made, ignored=frozenset({"wrong-placement-claim"}))).findings == ()


def test_a_misread_comment_is_a_problem_at_its_place(snapshot: Make) -> None:
    """A typing mistake costs the claim and is told."""
    made = snapshot(HEAD + "x = 1  # shardlint: placement=one-devise\n")
    (problem,) = check(made).problems
    assert problem.span is not None
    assert made.text.slice(problem.span) == "# shardlint: placement=one-devise"
    assert problem.message == "placement cannot be 'one-devise'; did you mean 'one-device'?"


def test_an_unknown_hand_off_says_how_to_tell(snapshot: Make) -> None:
    """The comment that is offered is understood."""
    source = (
        HEAD
        + "def export(x):\n    y = their_lib.load()\n    return np.from_dlpack(x), np.from_dlpack(y), np.from_dlpack(jnp.ones(3))\n"
    )
    first, second, third = check(snapshot(source)).hand_offs
    assert first.status.endswith(
        "If you know better, write `# shardlint: placement(x)=one-device` (or `many-devices`, `host`) on the line of `def export`"
    )
    assert second.status.endswith(
        "If you know better, write `# shardlint: placement=one-device` (or `many-devices`, `host`) where `y` is assigned"
    )
    assert "shardlint" not in third.status
    claimed = source.replace("export(x):", "export(x):  # shardlint: placement(x)=one-device")
    assert check(snapshot(claimed)).hand_offs[0].status.startswith("the array is on one device")


PROGRAM = (
    HEAD
    + f"""
s = {SHARDED}
class Model:
    def __init__(self, w):
        self.w = w
    def export(self, x, n=3):
        if n > 3:
            return np.from_dlpack(self.w)
        return np.from_dlpack(x)
def load(path):
    return s if path else their_lib.load(path)
for one in [load("a"), load("")]:
    np.from_dlpack(one)
Model(s).export(load(3), n=4)
"""
)
LINES = PROGRAM.split("\n")
COMMENTS = st.one_of(
    st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=20),
    st.sampled_from(["ignore[x]", "placement", "placement=", "placement(x)", "placement=on", "x=host", "placement(q q)=host"]),
)  # fmt: skip


def plain(source: str, catalogue: Catalogue) -> list[tuple[str, int]]:
    made = Snapshot("p.py", Text(source), Target(("0.10.2",), True, "the test"), catalogue)
    return [(one.rule, made.text.line_of(one.location.span.start)) for one in check(made).findings]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(LINES) - 1), COMMENTS)
def test_comments_that_claim_nothing_change_no_finding(line: int, comment: str) -> None:
    """Whatever a comment says that is no claim, the findings are the same."""
    lines = list(LINES)
    lines[line] += f"  # shardlint: {' '.join(comment.split())}"
    assert plain("\n".join(lines), load()) == plain(PROGRAM, load())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(LINES) - 1),
            st.sampled_from(["", "(x)", "(return)", "(w)", "(self.w)", "(one)"]),
            st.sampled_from(["many-devices", "one-device", "host", "spans-processes"]),
        ),
        max_size=6,
    )
)
def test_claims_anywhere_are_taken(claims: list[tuple[int, str, str]]) -> None:
    """Claims in any place and number fail nowhere, and the analysis is the same when it is made again."""
    lines = list(LINES)
    for line, name, word in claims:
        lines[line] += f"  # shardlint: placement{name}={word}"
    source = "\n".join(lines)
    assert plain(source, load()) == plain(source, load())
