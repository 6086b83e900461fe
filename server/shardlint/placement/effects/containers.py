"""Functions of the standard library that make containers of containers: `itertools`, `collections`, `operator`."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingType
from itertools import product as product_

from shardlint.placement.domain import UNKNOWN, Constant, Elements, Mapping, Mesh, Partial, Sequence, Symbol, Value
from shardlint.placement.iteration import element, items_of
from shardlint.placement.lattice import each, one_of
from shardlint.placement.machine import Arguments, item_of
from shardlint.placement.objects import entered, iterated
from shardlint.placement.operators import combined
from shardlint.placement.site import Site

_MOST = 16


def _columns(site: Site) -> list[Value]:
    return [iterated(value, site.node, site.frame, site.machine) for value in site.arguments.positional]


def _alike(values: list[Value], site: Site) -> Value:
    return Elements(one_of([element(value, site.node, site.frame) for value in values]), site.machine.new_ids())


def _known(values: list[Value], site: Site) -> list[tuple[Value, ...]] | None:
    """The items of each, where all are known one by one and they are few."""
    columns = [items_of(value) for value in values]
    known = [column for column in columns if column is not None]
    few = sum(map(len, known)) <= _MOST and len(known) == len(columns)
    return known if few and not site.arguments.open else None


def chain(site: Site) -> Value:
    """`itertools.chain(a, b)`."""
    values = _columns(site)
    known = _known(values, site)
    if known is None:
        return _alike(values, site)
    return Sequence(tuple(item for column in known for item in column), site.machine.new_ids())


def chain_nested(site: Site) -> Value:
    """`itertools.chain.from_iterable`, `more_itertools.flatten`."""
    outer = iterated(site.argument(0), site.node, site.frame, site.machine)
    return Elements(element(element(outer, site.node, site.frame), site.node, site.frame), site.machine.new_ids())


def of_first(site: Site) -> Value:
    """Some or all of the items of the first argument, in an order that is not followed."""
    return _alike(_columns(site)[:1], site)


def of_second(site: Site) -> Value:
    """The same of the second one, where the first is a function."""
    return _alike(_columns(site)[1:2], site)


def cut(site: Site) -> Value:
    """`itertools.islice`."""
    values = _columns(site)
    known, bounds = items_of(values[0]) if values else None, site.arguments.positional[1:]
    numbers = [one.value for one in bounds if isinstance(one, Constant) and isinstance(one.value, int | None)]
    if known is None or len(numbers) < len(bounds) or not bounds:
        return _alike(values[:1], site)
    return Sequence(known[slice(*numbers)], site.machine.new_ids())


def repeated(site: Site) -> Value:
    return Elements(site.argument(0, "object"), site.machine.new_ids())


def product(site: Site) -> Value:
    values = _columns(site)
    known = _known(values, site)
    if known is None or site.arguments.keywords:
        row = Sequence(tuple(element(value, site.node, site.frame) for value in values))
        return Elements(row, site.machine.new_ids())
    rows = [Sequence(row) for row in product_(*known)]
    return Sequence(tuple(rows), site.machine.new_ids()) if len(rows) <= _MOST else Elements(one_of(rows))


def pairs(site: Site) -> Value:
    """Tuples of items of the same container: `itertools.pairwise`, `combinations`."""
    item = element(item_of(next(iter(_columns(site)), None)), site.node, site.frame)
    return Elements(Elements(item), site.machine.new_ids())


def running(site: Site) -> Value:
    """`itertools.accumulate(values, function)`: every value so far, put together by the function or by `+`."""
    values = iterated(site.argument(0), site.node, site.frame, site.machine)
    item, function = element(values, site.node, site.frame), site.arguments.get(1, "func")
    if function is None:
        last = combined([item, item], site.node, site.frame)
    else:
        last = site.machine.call(function, Arguments((item, item)), site.node, site.frame)
    known = items_of(values)
    if known and len(known) == 2:
        return Sequence((known[0], combined(list(known), site.node, site.frame) if function is None else last))
    return Elements(one_of([item, last]))


def as_dict(site: Site) -> Value:
    """A kind of dict, made from what `dict` is made from."""
    return site.machine.call(Symbol("builtins.dict"), site.arguments, site.node, site.frame)


def star_map(site: Site) -> Value:
    """`itertools.starmap(function, rows)`."""
    rows = iterated(site.argument(1), site.node, site.frame, site.machine)

    def called(row: Value) -> Value:
        given = items_of(row)
        arguments = (
            Arguments(open=True, rest=element(row, site.node, site.frame)) if given is None else Arguments(given)
        )
        return site.machine.call(site.argument(0), arguments, site.node, site.frame)

    known = items_of(rows)
    if known is not None and len(known) <= _MOST:
        return Sequence(tuple([called(row) for row in known]), site.machine.new_ids())
    return Elements(called(element(rows, site.node, site.frame)), site.machine.new_ids())


def grouped(site: Site) -> Value:
    """`itertools.groupby`."""
    return Elements(Sequence((UNKNOWN, of_first(site))), site.machine.new_ids())


def double_ended(site: Site) -> Value:
    """`collections.deque`."""
    return site.machine.call(Symbol("builtins.list"), Arguments(site.arguments.positional[:1]), site.node, site.frame)


def dict_with_default(site: Site) -> Value:
    """`collections.defaultdict(factory, ...)`: a missing key gets what the factory makes when it is asked for."""
    rest = Arguments(site.arguments.positional[1:], site.arguments.keywords, site.arguments.open)
    made = site.machine.call(Symbol("builtins.dict"), rest, site.node, site.frame)
    factory = site.arguments.get(0)
    return Mapping(made.items, made.rest, made.ids, factory) if isinstance(made, Mapping) else made


def getter(site: Site) -> Value:
    """`operator.itemgetter`, `operator.attrgetter`: a function that gets it from what it is given."""
    return Partial(Symbol(f"{site.name} of"), site.arguments.positional, ())


def got(site: Site) -> Value:
    """What such a function gives; what it takes is known by the names and items before its own argument."""
    *wanted, owner = site.arguments.positional or (UNKNOWN,)

    def part(one: Value) -> Value:
        if not isinstance(one, Constant):
            return UNKNOWN
        if "attrgetter" in site.name:
            return site.machine.call(Symbol("builtins.getattr"), Arguments((owner, one)), site.node, site.frame)
        return each(owner, lambda held: _item(held, one))

    found = [part(one) for one in wanted]
    return found[0] if len(found) == 1 else Sequence(tuple(found))


def _item(owner: Value, index: Constant) -> Value:
    match owner, index.value:
        case Sequence(items), int() as number if -len(items) <= number < len(items):
            return items[number]
        case Mapping(items), key if key in dict(items):
            return dict(items)[key]
        case Elements(item), _:
            return item
        case _:
            return UNKNOWN


def together(site: Site) -> Value:
    """`asyncio.gather(a, b)`: a coroutine is taken for its result."""
    return Sequence(site.arguments.positional) if not site.arguments.open else Elements(UNKNOWN)


def managed(site: Site) -> Value:
    """`contextlib.nullcontext(x)`, `contextlib.closing(x)`: what `with` binds."""
    return Elements(item_of(site.arguments.get(0, "enter_result")))


def entered_by_stack(site: Site) -> Value:
    """`stack.enter_context(manager)`: what `with manager as name` binds."""
    manager = site.argument(0, "cm")
    if isinstance(manager, Mesh):
        site.frame.state.entered = manager.count
    return entered(manager, site.node, site.frame, site.machine)


CONTAINER_EFFECTS: MappingType[str, Callable[[Site], Value]] = {
    "entered": entered_by_stack,
    "chain": chain,
    "chain-nested": chain_nested,
    "of-first": of_first,
    "of-second": of_second,
    "cut": cut,
    "repeated": repeated,
    "product": product,
    "pairs": pairs,
    "star-map": star_map,
    "running": running,
    "dict": as_dict,
    "grouped": grouped,
    "double-ended": double_ended,
    "dict-with-default": dict_with_default,
    "getter": getter,
    "got": got,
    "together": together,
    "managed": managed,
}
