"""What functions of other libraries give: their arrays, what runs on them, and the parameters of networks."""

from __future__ import annotations

import ast

from shardlint.placement.domain import (
    UNKNOWN,
    WITHOUT_GRADIENTS,
    Constant,
    Elements,
    Foreign,
    Function,
    Host,
    Instance,
    Sequence,
    Symbol,
    Value,
)
from shardlint.placement.frame import Code
from shardlint.placement.lattice import each, one_of
from shardlint.placement.machine import item_of
from shardlint.placement.nature import Nature
from shardlint.placement.natures import REQUIRES_GRAD, kept, viewed
from shardlint.placement.site import Site

_TURNED_OFF = frozenset({"requires_grad", "requires_grad_"})
_MODULE = "torch.nn.Module"


def foreign_array(site: Site) -> Value:
    """An array of another library."""
    return Foreign(site.effect.library or "", sure=True)


def parameter(site: Site) -> Value:
    """`torch.nn.Parameter(data)`: a tensor that requires gradients, unless the call says otherwise."""
    if site.argument(1, "requires_grad") == Constant(False):
        return Foreign("torch", sure=True)
    return _requiring(site)


def parameters(site: Site) -> Value:
    """What goes through the parameters of a network. They require gradients, if nothing in the module turns that off; of an object
    whose class is not known only its method's name tells that it is a network.
    """
    known = site.owner is None or (isinstance(site.owner, Instance) and site.owner.definition.derives_from(_MODULE))
    if isinstance(site.owner, Instance) and not known:
        return UNKNOWN
    if not _TURNED_OFF.isdisjoint(site.machine.module_of(site.frame).survey.assigned):
        return Elements(UNKNOWN)
    tensor = _requiring(site)
    one = tensor if known else one_of([tensor, UNKNOWN])
    return Elements(Sequence((UNKNOWN, one)) if site.name.endswith("named_parameters") else one)


def _requiring(site: Site) -> Value:
    trace = site.step(None, f"{site.short.removeprefix('?.')} gives what requires gradients")
    return Foreign("torch", nature=Nature(marks=frozenset({REQUIRES_GRAD}), trace=trace), sure=True)


def rows_together(site: Site) -> Value:
    """`TensorDataset(*tensors)`: goes through the rows of all, side by side."""
    if site.arguments.open or site.arguments.rest is not None:
        return UNKNOWN
    rows = (viewed(one, UNKNOWN) if isinstance(one, Host | Foreign) else one for one in site.arguments.positional)
    return Elements(Sequence(tuple(rows)))


def batches(site: Site) -> Value:
    """`DataLoader(dataset)`: goes through new tensors, in which rows of the data lie one after the other; unless the call says how they
    are put together.
    """
    collated = site.arguments.get(6, "collate_fn") in (None, Constant(None))
    if not collated or site.arguments.get(1, "batch_size") == Constant(None):
        return UNKNOWN
    return each(
        site.argument(0, "dataset"), lambda one: Elements(_stacked(one.item)) if isinstance(one, Elements) else UNKNOWN
    )


def _stacked(row: Value) -> Value:
    match row:
        case Foreign("torch"):
            return Foreign("torch", nature=kept(row), sure=row.sure)
        case Host():
            return Foreign("torch", nature=kept(row))
        case Sequence(items):
            return Sequence(tuple(map(_stacked, items)))
        case _:
            return UNKNOWN


def decorated(site: Site) -> Value:
    """A function that is compiled by another library, or what makes one of a function if options are given first."""
    if not _is_function(site):
        return Symbol(site.name)
    given, made = site.arguments.get(0), site.effect.gives or ""
    stricter = f"{made}.on_arrays"
    told = stricter in site.machine.table.consumers and isinstance(given, Function) and _uses_as_arrays(given)
    return Symbol(stricter if told else made)


def _uses_as_arrays(function: Function) -> bool:
    """Whether a function takes attributes of each of its parameters, or writes into them: a bare buffer has neither."""
    code = function.code
    if not isinstance(code, Code):
        return False
    parameters = {one.arg for one in (*code.node.args.posonlyargs, *code.node.args.args)}
    body = code.node.body if isinstance(code.node.body, list) else [code.node.body]
    used = {
        node.value.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
        if isinstance(node.value, ast.Name)
    }
    return bool(parameters) and parameters <= used


def without_gradients(site: Site) -> Value:
    """`torch.no_grad()`, to be entered or to decorate a function."""
    return item_of(site.arguments.get(0)) if _is_function(site) else WITHOUT_GRADIENTS


def _is_function(site: Site) -> bool:
    return isinstance(site.arguments.get(0), Function)
