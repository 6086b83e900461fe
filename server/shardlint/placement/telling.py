"""Truth values that tell something of arrays: comparisons of their devices, and what `and`, `or`, `not` make of them.

What proves what is FACTS 5. A test that looks at the devices of this process alone proves nothing of arrays that span processes,
but nothing is said of an array behind it: see UNTOLD.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from collections.abc import Mapping as MappingType
from functools import reduce

from shardlint.placement.counts import ABSENT, ONE, UNTOLD, Count, Facts, Share, Spans, Subject, Told
from shardlint.placement.domain import (
    UNKNOWN,
    Array,
    Capsule,
    Class,
    Constant,
    Device,
    Fact,
    Function,
    Host,
    Instance,
    Mesh,
    Method,
    Namespace,
    Partial,
    Sequence,
    Sharding,
    Symbol,
    Test,
    Transformed,
    Unknown,
    Value,
    Version,
)
from shardlint.placement.lattice import alternatives, one_of
from shardlint.placement.merging import joined_facts, with_facts
from shardlint.placement.nature import PER_PROCESS
from shardlint.placement.state import IMPOSSIBLE, THIS_PROCESS
from shardlint.placement.tracing import Tracing


def fact_test(fact: Fact, operator: ast.cmpop, other: Value) -> Test | None:
    """`fact operator other` as a truth value, None if that tells nothing."""
    match fact.what, other:
        case "count", Sequence((Constant(int() as number),)) if isinstance(operator, ast.In | ast.NotIn):
            equal = ast.Eq() if isinstance(operator, ast.In) else ast.NotEq()
            return fact_test(fact, equal, Constant(number))
        case "count", Constant(int() as number):
            return Test(_told(fact, operator, number), _told(fact, _OPPOSITE.get(type(operator)), number))
        case "process count", Constant(int() as number):
            return Test(_alone(fact, operator, number), _alone(fact, _OPPOSITE.get(type(operator)), number))
        case "local count", Constant(int() as number):
            return Test(_untold(fact, operator, number), _untold(fact, _OPPOSITE.get(type(operator)), number))
        case "sharding", Sharding(count) | Fact(what="sharding", count=Count() as count):
            return _equality(fact, operator, count)
        case "type of sharding", Symbol("jax.sharding.SingleDeviceSharding"):
            return _equality(fact, operator, ONE)
        case "device", Device():
            return _equality(fact, operator, ONE)
        case "device_set", Sequence(items) if items:
            return _equality(fact, operator, Count(1, len(items)))
        case "device_set", Fact(what="device_set", count=Count() as count):
            return _equality(fact, operator, count)
        case _:
            return None


def chosen_process(left: Value, operator: ast.cmpop, right: Value) -> Test | None:
    """`jax.process_index() == 0`, or the contrary, as a truth value."""
    match left, right:
        case Host(nature=nature), Constant(int()) if PER_PROCESS in nature.marks and isinstance(
            operator, ast.Eq | ast.NotEq
        ):
            return _one_process(there=isinstance(operator, ast.Eq))
        case _:
            return None


def _one_process(*, there: bool) -> Test:
    """The test of a process for its index: where it comes out so, only one process goes on."""
    alone: Facts = (((THIS_PROCESS, None), ONE),)
    return Test(alone, ()) if there else Test((), alone)


def has(owner: Value, name: str, count: Count | None) -> Value:
    """`hasattr(owner, name)`, for what is not a module; `count` is what is known of the devices if it is an array."""
    match owner:
        case Array() if name == "__cuda_array_interface__":
            return Constant(False) if count is not None and count.surely_many else Test(_interface(owner), ())
        case Array() if name == "__dlpack_device__" and owner.traced >= Tracing.DIFFERENTIATED:
            return Constant(False)
        case Array() if name in ("__dlpack__", "__dlpack_device__", "sharding", "devices"):
            return UNKNOWN if owner.traced else Constant(True)
        case Capsule() if name.startswith("__dlpack"):
            return Constant(False)
        case Fact(what="sharding") if name == "mesh":
            return negation(proof_of_one(owner))
        case Fact(what="sharding") if name in ("device_set", "num_devices"):
            return Constant(True)
        case _:
            return UNKNOWN


def _interface(array: Array) -> Facts:
    """What follows if an array has a `__cuda_array_interface__`."""
    return (((array.key, array.count), ONE),)


def told_if_there(value: Value) -> Test | None:
    """`value is not None` for an attribute that may not exist, None where that tells nothing."""
    match value:
        case Method(Array() as array, "__cuda_array_interface__"):
            return Test(_interface(array), ())
        case _:
            return None


def addressable(array: Array, count: Count | None) -> Test:
    """`x.is_fully_addressable`: that it is not says something only of an array that may span processes."""
    beyond = count is not None and count.spans.possible
    return Test(
        (((array.key, count), Count(1, None, spans=Spans.NO)),),
        (((array.key, count), Count(1, None, spans=Spans.SURE)),) if beyond else (),
    )


def replicated(array: Array, count: Count | None) -> Test:
    """`x.is_fully_replicated`, which is true on one device too."""
    subject = array.key, count
    return Test(((subject, Count(1, None, share=Share.ALL)),), ((subject, Count(2, None, share=Share.PART)),))


def proof_of_one(fact: Fact) -> Test:
    """A test of a property that only arrays on one device have, and not all of those."""
    return Test(_facts(fact, ONE), ())


def exactly(fact: Fact, number: int) -> Facts:
    """What follows if as many devices as that could be unpacked."""
    return _facts(fact, Count(number, number))


def _equality(fact: Fact, operator: ast.cmpop, count: Count) -> Test | None:
    """Where it is equal to something on `count` devices, the array is on as many; elsewhere that tells nothing."""
    equal = _facts(fact, count)
    if isinstance(operator, ast.Eq | ast.Is):
        return Test(equal, ())
    return Test((), equal) if isinstance(operator, ast.NotEq | ast.IsNot) else None


def _told(fact: Fact, operator: ast.cmpop | type[ast.cmpop] | None, number: int) -> Facts:
    bounds = _bounds(operator, number)
    if bounds is None:
        return ()
    low, high = bounds
    return _facts(fact, IMPOSSIBLE if high is not None and high < max(low, 1) else Count(max(low, 1), high))


def _untold(fact: Fact, operator: ast.cmpop | type[ast.cmpop] | None, number: int) -> Facts:
    bounds = _bounds(operator, number)
    return _facts(fact, UNTOLD) if bounds is not None and bounds[1] == 1 else ()


def _alone(fact: Fact, operator: ast.cmpop | type[ast.cmpop] | None, number: int) -> Facts:
    """What a test of the number of processes tells: that no array spans several."""
    bounds = _bounds(operator, number)
    return _facts(fact, Count(1, None, spans=Spans.NO)) if bounds is not None and bounds[1] == 1 else ()


def _facts(fact: Fact, told: Told) -> Facts:
    return (((fact.key, fact.count), told),)


def _bounds(operator: ast.cmpop | type[ast.cmpop] | None, number: int) -> tuple[int, int | None] | None:
    """The whole numbers that are so compared to `number`, as bounds from 1 on; None if these say nothing."""
    kind = operator if isinstance(operator, type) or operator is None else type(operator)
    if kind is ast.Eq:
        return number, number
    if kind is ast.NotEq:
        return (2, None) if number == 1 else None
    if kind is ast.Lt:
        return 1, number - 1
    if kind is ast.LtE:
        return 1, number
    if kind is ast.Gt:
        return number + 1, None
    if kind is ast.GtE:
        return number, None
    return None


_OPPOSITE: MappingType[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}


def told_if(value: Value, truth: bool) -> dict[Subject, Told] | None:
    """What holds where `value`, one alternative, is as true as `truth`; None if it cannot be."""
    match value:
        case Constant(held, facts):
            return dict(facts) if bool(held) == truth else None
        case Test(true, false):
            told = true if truth else false
            return None if any(_excluded(known, count) for (_, known), count in told) else dict(told)
        case Mesh() | Sharding() | Function() | Class() | Partial() | Transformed() | Namespace() | Device():
            return {} if truth else None
        case Instance(definition) if not definition.is_open and definition.shape != "tuple":
            may_be_false = definition.find("__bool__") is not None or definition.find("__len__") is not None
            return {} if truth or may_be_false else None
        case Host(nature=nature) if not truth and PER_PROCESS in nature.marks:
            return {(THIS_PROCESS, None): ONE}
        case Method() if truth and (there := told_if_there(value)) is not None:
            return dict(there.true)
        case _:
            return {}


def told_of(value: Value, truth: bool) -> dict[Subject, Told] | None:
    """What holds where `value` is as true as `truth`, whichever of its alternatives it is; None if it cannot be."""
    possible = [told for one in alternatives(value) if (told := told_if(one, truth)) is not None]
    return reduce(joined_facts, possible) if possible else None


def told_of_all(values: Iterable[Value], truth: bool) -> dict[Subject, Told] | None:
    """What holds where all of `values` are as true as `truth`, None if they cannot be: an array that only an alternative is about
    which then cannot be is not there.
    """
    found: dict[Subject, Told] = {}
    for value in values:
        told = told_of(value, truth)
        if told is None:
            return None
        found.update(told)
        choices = alternatives(value)
        for one in choices if len(choices) > 1 else ():
            if isinstance(one, Test):
                found.update(told_if(one, truth) or dict.fromkeys(_subjects(one, truth), ABSENT))
    return found


def _subjects(test: Test, truth: bool) -> list[Subject]:
    return [subject for subject, _ in (test.true if truth else test.false)]


def _excluded(known: Count | None, told: Told) -> bool:
    return told is None or (known is not None and told not in (UNTOLD, ABSENT) and known.met(told) is None)


def negation(value: Value) -> Value:
    """`not value`."""
    match value:
        case Constant(held, facts):
            return Constant(not held, facts)
        case Test(true, false):
            return Test(false, true)
        case Method() if (there := told_if_there(value)) is not None:
            return Test(there.false, there.true)
        case Version():
            return value
        case Host(nature=nature) if PER_PROCESS in nature.marks:
            return _one_process(there=True)
        case _:
            return UNKNOWN


def junction(values: list[Value], *, stop: bool) -> Value:
    """`or` (`stop` true) or `and` (`stop` false) over operands, of which the last may not have been reached."""
    if any(isinstance(value, Version) for value in values):
        return Version(None, opaque=True)
    choices = [choice for value in values for choice in alternatives(value)]
    if any(isinstance(one, Test) for one in choices) and all(
        isinstance(one, Test | Constant | Unknown | Method) for one in choices
    ):
        return _junction_of_tests(values, stop=stop)
    deciding = [
        alternative
        for value in values[:-1]
        for alternative in alternatives(value)
        if told_if(alternative, stop) is not None
    ]
    return one_of([*deciding, values[-1]])


def _junction_of_tests(values: list[Value], *, stop: bool) -> Value:
    """A truth value that tells what its operands tell: all of it where none of them decided."""
    stopped: dict[Subject, Told] | None = None
    passed: dict[Subject, Told] | None = {}
    for value in values:
        if passed is None:
            break
        deciding, passing = told_of(value, stop), told_of_all([value], not stop)
        if deciding is not None:
            told = {**passed, **deciding}
            stopped = told if stopped is None else joined_facts(stopped, told)
        passed = None if passing is None else {**passed, **passing}
    if passed is None or stopped is None:
        return Constant(stop if passed is None else not stop)
    return _test(stopped, passed) if stop else _test(passed, stopped)


def _test(true: dict[Subject, Told], false: dict[Subject, Told]) -> Test:
    return Test(tuple(true.items()), tuple(false.items()))


def correlated(paths: list[tuple[Value, dict[Hashable, Told]]]) -> Value:
    """What paths with their facts give: flags remember which facts belong to them."""
    if len(paths) < 2 or not any(facts for _, facts in paths):
        return one_of([value for value, _ in paths])
    return one_of([with_facts(value, {(key, None): told for key, told in facts.items()}) for value, facts in paths])
