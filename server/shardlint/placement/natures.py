"""What is known of the data that a call or an operation gives: dtype, layout, whose memory it is (`Nature`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeGuard

from shardlint.placement.domain import Array, Capsule, Constant, Foreign, Host, Partial, Sequence, Slice, Symbol, Value
from shardlint.placement.lattice import alternatives, each, leaves, map_leaves
from shardlint.placement.nature import DTYPE_MODULES, KEY, PER_PROCESS, PLAIN, Nature
from shardlint.placement.rows import Mark
from shardlint.placement.site import Site

Data = Array | Host | Foreign
"""The values that have a nature."""

HOLDERS = frozenset({"sparse", "ref", "abstract"})
"""What `library` says of objects that hold or describe an array and are none: NumPy makes nothing of them that it should."""

STRIDED = "strided"
"""The mark of an array between whose items others are left out: its memory is not compact."""

OFFSET = "offset"
"""The mark of an array that begins behind the first item of another: its memory need not be aligned as that of the other is."""

ADDRESS = "address"
"""The mark of an address of memory, which keeps nothing alive."""

DANGLING = "dangling"
"""The mark of an address whose memory nobody holds any more."""

READ_ONLY = "read-only"
"""The mark of an array into which nothing can be written."""

READ_LATER = "read-later"
"""The mark of what is written into while a `jax.Array` in the same memory is read afterwards."""

LENT = "lent"
"""The mark of memory of another library that a `jax.Array` has taken over."""

ITEM = "item"
"""The mark of what was taken out of an array by its index: a number, or an array of fewer axes."""

REQUIRES_GRAD = "requires-grad"
"""The mark of a tensor for which PyTorch records what is computed with it."""

LASTING = frozenset({REQUIRES_GRAD, PER_PROCESS})
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
        case Partial(Symbol("jax.ShapeDtypeStruct")):
            return "abstract"
        case _:
            return None


def natured(made: Value, site: Site) -> Value:
    """What a call gives, with the dtype that the call says or keeps, and marked as its row of the table says."""
    if site.arguments.keywords.get("requires_grad") == Constant(True):
        trace = site.step(None, f"{site.short} makes it one that requires gradients")
        made = renatured(made, lambda own: replace(own, marks=own.marks | {REQUIRES_GRAD}, trace=trace))
    return _marked(typed(made, site), site)


def typed(made: Value, site: Site) -> Value:
    """What a call gives, with the dtype that the call says or keeps."""
    row = site.machine.table.dtypes.get(site.name)
    names = site.machine.table.dtype_names
    told = [site.arguments.get(position, "dtype") for position in (None, *(row.arguments if row else ()))]
    given = [one for one in told if one is not None and one != Constant(None)]
    dtype = next((known for one in given if (known := named(one, names)) is not None), None)
    if dtype is not None:
        return with_nature(made, _told(dtype, site))
    if row is None or (given and not row.keeps):
        return made
    if row.gives is not None:
        return with_nature(made, _told(row.gives, site))
    if row.default is not None:
        return made if site.arguments.open or given else with_nature(made, _told(row.default, site))
    if row.literals and (kind := _kind_of_literals(site.arguments.positional)) is not None:
        return with_nature(made, _told(row.literals.get(kind), site))
    if not row.keeps or (given and site.owner is None):
        return made
    return with_nature(made, common(site.arguments.values() if site.owner is None else (site.owner,)))


def _kind_of_literals(values: Iterable[Value]) -> str | None:
    """The type of Python's that holds all of the literals, also those in lists; None where anything else is among them."""
    kinds = {_KINDS.index(type(leaf.value).__name__) if _is_number(leaf) else -1 for leaf in _flat(values)}
    return None if not kinds or -1 in kinds else _KINDS[max(kinds)]


_KINDS = ("bool", "int", "float", "complex", "str", "bytes", "NoneType")


def _is_number(leaf: Value) -> TypeGuard[Constant]:
    return isinstance(leaf, Constant) and type(leaf.value).__name__ in _KINDS


def _flat(values: Iterable[Value]) -> Iterator[Value]:
    for value in values:
        if isinstance(value, Sequence):
            yield from _flat(value.items)
        else:
            yield value


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
    before = source.nature if isinstance(source, Data) else PLAIN
    row = next((row for row in rows if _counts(row, library(source), before, site)), None)
    if row is None:
        return made

    def changed(nature: Nature) -> Nature:
        marks = ((before.marks if row.keeps else nature.marks | before.marks & CARRIED) - row.removes) | row.adds
        shares = before.shares if row.keeps and not row.copies else None
        if row.shares and isinstance(source, Array):
            shares = source.key
        dtype = before.dtype if row.keeps and nature.dtype is None else nature.dtype
        trace = site.step(before.trace or nature.trace, f"{site.short} {row.says}") if row.says else before.trace
        return Nature(dtype, nature.gone, marks, shares, trace or nature.trace)

    return renatured(made, changed)


def _counts(row: Mark, whose: str | None, nature: Nature, site: Site) -> bool:
    """Whether a row counts for an array of this library and nature."""
    return (
        (not row.of or whose in row.of)
        and (not row.needs or not row.needs.isdisjoint(nature.marks))
        and row.without.isdisjoint(nature.marks)
        and (not row.only or nature.dtype in row.only)
        and all(site.named(one) in (None, Constant(None), Constant(False)) for one in row.unless)
        and (row.switch is None or site.argument(row.switch, REQUIRES_GRAD.replace("-", "_")) != Constant(False))
    )


def alone(shard: Array) -> Array:
    """The shard that a literal index names: whoever takes it takes that one of several."""
    return replace(shard, nature=replace(shard.nature, marks=shard.nature.marks | {"one-shard"}))


def renatured(made: Value, change: Callable[[Nature], Nature]) -> Value:
    """All arrays in `made`, of whatever library, with a nature made of their own."""
    return map_leaves(made, lambda leaf: replace(leaf, nature=change(leaf.nature)) if isinstance(leaf, Data) else leaf)


def with_nature(made: Value, nature: Nature) -> Value:
    """The arrays in `made` with this dtype, if it is known. JAX makes wide ones narrower where it is not told otherwise."""
    if nature.dtype is None:
        return made

    def changed(leaf: Value) -> Value:
        if not isinstance(leaf, Data) or (isinstance(leaf, Array) and nature.dtype in NARROWED):
            return leaf
        return replace(leaf, nature=replace(leaf.nature, dtype=nature.dtype, trace=nature.trace))

    return map_leaves(made, changed)


NARROWED = frozenset({"float64", "int64", "uint64", "complex128"})
"""The dtypes that JAX takes in as others of half the width, unless it is told to keep them (`jax_enable_x64`)."""


def named(value: Value, names: Mapping[str, str]) -> str | None:
    """The name of a dtype that is given as a string or as a class of a library; `names` are those known for strings and symbols."""
    match value:
        case Constant(str() as name):
            return names.get(name)
        case Symbol(name):
            holder, _, last = name.rpartition(".")
            return names.get(name) or (names.get(last) if holder in DTYPE_MODULES else None)
        case _:
            return None


def common(values: Iterable[Value]) -> Nature:
    """The dtype that all arrays in `values` have."""
    found = {kept(leaf) for value in values for leaf in leaves(value) if isinstance(leaf, Data)}
    return found.pop() if len(found) == 1 else PLAIN


def kept(data: Data) -> Nature:
    """What an array has that is made of this one and has its dtype: it is another array, and there."""
    return Nature(data.nature.dtype, trace=data.nature.trace) if data.nature is not PLAIN else PLAIN


def computed(operands: Iterable[Value], *, same_dtype: bool, recording: bool = True) -> Nature:
    """What comes of computing with arrays: the marks that last, if what is computed is recorded, and with `same_dtype` the dtype if
    they agree in it.
    """
    data = [one for operand in operands for one in alternatives(operand) if isinstance(one, Data)]
    marked = [one for one in data if recording and one.nature.marks & LASTING]
    if not marked:
        return common(data) if same_dtype else PLAIN
    marks = frozenset[str]().union(*(one.nature.marks for one in marked)) & LASTING
    return replace(common(data) if same_dtype else PLAIN, marks=marks, trace=marked[0].nature.trace)


def viewed(owner: Host | Foreign, index: Value) -> Host | Foreign:
    """`owner[index]`: a view of the same memory where the index surely is none of arrays; another array of its dtype else."""
    nature = owner.nature
    layout = layout_of(index)
    if nature is PLAIN and not layout - {ITEM}:
        return owner
    if not _is_basic(index):
        marks = nature.marks & LASTING
        return replace(owner, nature=replace(kept(owner), marks=marks, trace=nature.trace if marks else None))
    return replace(owner, nature=replace(nature, marks=nature.marks | layout)) if layout else owner


def layout_of(index: Value) -> frozenset[str]:
    """The marks of the view that a subscript gives of compact memory: what literal slices surely leave out."""
    parts = index.items if isinstance(index, Sequence) else (index,)
    marks: set[str] = set()
    for place, part in enumerate(parts):
        match part:
            case Slice(step=int() as step) if step not in (0, 1):
                marks.add(STRIDED)
            case Slice(low=low, high=high) if place and isinstance(parts[place - 1], Slice) and _narrows(low, high):
                marks.add(STRIDED)
            case Slice(low=int() as low) if not place and low > 0:
                marks.add(OFFSET)
            case Constant(int()):
                marks.add(ITEM)
            case _:
                pass
    return frozenset(marks)


def _narrows(low: int | str | None, high: int | str | None) -> bool:
    """Whether a slice surely leaves out items at an end."""
    return (isinstance(low, int) and low > 0) or (isinstance(high, int) and high < 0)


def _is_basic(index: Value) -> bool:
    """Whether indexing with it gives a view."""
    match index:
        case Slice() | Constant():
            return True
        case Sequence(items):
            return all(_is_basic(item) and not isinstance(item, Sequence) for item in items)
        case _:
            return False
