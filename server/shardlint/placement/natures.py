"""What is known of the data that a call or an operation gives: dtype, layout, whose memory it is (`Nature`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from shardlint.placement.domain import Array, Capsule, Constant, Foreign, Host, Sequence, Slice, Symbol, Value
from shardlint.placement.lattice import alternatives, each, leaves, map_leaves
from shardlint.placement.nature import DTYPE_MODULES, KEY, PLAIN, Nature
from shardlint.placement.site import Site
from shardlint.placement.table import Mark

Data = Array | Host | Foreign
"""The values that have a nature."""

STRIDED = "strided"
"""The mark of an array between whose items others are left out: its memory is not compact."""

LASTING = frozenset({"requires-grad", "per-process"})
"""The marks that what is computed from an array has too."""

CARRIED = frozenset({"replica"})
"""The marks that tell what numbers are in an array: those in a copy of it are the same."""


def library(value: Value) -> str | None:
    """The library whose array a value is, as rows of the tables name it; None where it is no array."""
    match value:
        case Array():
            return "jax"
        case Host():
            return "numpy"
        case Foreign(name):
            return name
        case Capsule():
            return "capsule"
        case _:
            return None


def natured(made: Value, site: Site) -> Value:
    """What a call gives, with the dtype that the call says or keeps, and marked as its row of the table says."""
    return _marked(typed(made, site), site)


def typed(made: Value, site: Site) -> Value:
    """What a call gives, with the dtype that the call says or keeps."""
    row = site.machine.table.dtypes.get(site.name)
    told = site.arguments.get(None if row is None else row.argument, "dtype")
    if told is not None and told != Constant(None):
        return with_nature(made, _told(named(told), site))
    if row is None:
        return made
    if row.gives is not None:
        return with_nature(made, _told(row.gives, site))
    return with_nature(
        made, common(site.arguments.values() if site.owner is None else (site.owner,)) if row.keeps else PLAIN
    )


def _told(dtype: str | None, site: Site) -> Nature:
    if dtype is None:
        return PLAIN
    words = "makes a typed key" if dtype == KEY else f"gives it the dtype {dtype}"
    return Nature(dtype, trace=site.step(None, f"{site.short} {words}"))


def _marked(made: Value, site: Site) -> Value:
    rows = site.machine.table.marks.get(site.name, ())
    if not rows:
        return made
    return each(_source(rows[0], site), lambda source: _marked_by(made, source, rows, site))


def _source(row: Mark, site: Site) -> Value:
    return site.owner if site.owner is not None else site.argument(row.argument, row.keyword)


def _marked_by(made: Value, source: Value, rows: Iterable[Mark], site: Site) -> Value:
    """What comes of one alternative of the source: the first row counts that is of its library."""
    whose = library(source)
    row = next((row for row in rows if not row.of or whose in row.of), None)
    if row is None:
        return made
    before = source.nature if isinstance(source, Data) else PLAIN

    def changed(nature: Nature) -> Nature:
        marks = ((before.marks if row.keeps else nature.marks | before.marks & CARRIED) - row.removes) | row.adds
        shares = before.shares if row.keeps else None
        if row.shares and isinstance(source, Array):
            shares = source.key
        dtype = before.dtype if row.keeps and nature.dtype is None else nature.dtype
        trace = site.step(before.trace or nature.trace, f"{site.short} {row.says}") if row.says else before.trace
        return Nature(dtype, nature.gone, marks, shares, trace or nature.trace)

    return renatured(made, changed)


def alone(shard: Array) -> Array:
    """The shard that a literal index names: whoever takes it takes that one of several."""
    return replace(shard, nature=replace(shard.nature, marks=shard.nature.marks | {"one-shard"}))


def renatured(made: Value, change: Callable[[Nature], Nature]) -> Value:
    """All arrays in `made`, of whatever library, with a nature made of their own."""
    return map_leaves(made, lambda leaf: replace(leaf, nature=change(leaf.nature)) if isinstance(leaf, Data) else leaf)


def with_nature(made: Value, nature: Nature) -> Value:
    """The arrays in `made` with this dtype, if it is known."""
    if nature.dtype is None:
        return made
    return renatured(made, lambda own: replace(own, dtype=nature.dtype, trace=nature.trace))


def named(value: Value) -> str | None:
    """The name of a dtype that is given as a string or as a class of a library."""
    match value:
        case Constant(str() as name):
            return name
        case Symbol(name) if name.rpartition(".")[0] in DTYPE_MODULES:
            return name.rpartition(".")[2]
        case _:
            return None


def common(values: Iterable[Value]) -> Nature:
    """The dtype that all arrays in `values` have."""
    found = {kept(leaf) for value in values for leaf in leaves(value) if isinstance(leaf, Data)}
    return found.pop() if len(found) == 1 else PLAIN


def kept(data: Data) -> Nature:
    """What an array has that is made of this one and has its dtype: it is another array, and there."""
    return Nature(data.nature.dtype, trace=data.nature.trace) if data.nature is not PLAIN else PLAIN


def computed(operands: Iterable[Value], *, same_dtype: bool) -> Nature:
    """What comes of computing with arrays: the marks that last, and with `same_dtype` the dtype if they agree in it."""
    data = [one for operand in operands for one in alternatives(operand) if isinstance(one, Data)]
    marked = [one for one in data if one.nature.marks & LASTING]
    if not marked:
        return common(data) if same_dtype else PLAIN
    marks = frozenset[str]().union(*(one.nature.marks for one in marked)) & LASTING
    return replace(common(data) if same_dtype else PLAIN, marks=marks, trace=marked[0].nature.trace)


def viewed(owner: Host | Foreign, index: Value) -> Host | Foreign:
    """`owner[index]`: a view of the same memory where the index surely is none of arrays; another array of its dtype else."""
    nature = owner.nature
    if nature is PLAIN and not _steps(index):
        return owner
    if not _is_basic(index):
        marks = nature.marks & LASTING
        return replace(owner, nature=replace(kept(owner), marks=marks, trace=nature.trace if marks else None))
    return replace(owner, nature=replace(nature, marks=nature.marks | {STRIDED})) if _steps(index) else owner


def _is_basic(index: Value) -> bool:
    """Whether indexing with it gives a view."""
    match index:
        case Slice() | Constant():
            return True
        case Sequence(items):
            return all(_is_basic(item) and not isinstance(item, Sequence) for item in items)
        case _:
            return False


def _steps(index: Value) -> bool:
    match index:
        case Slice(step=int() as step):
            return step != 1
        case Sequence(items):
            return any(isinstance(item, Slice) and _steps(item) for item in items)
        case _:
            return False
