"""What is believed of values, in words."""

from __future__ import annotations

import ast

from shardlint.model import Belief, Step, Way
from shardlint.placement.domain import (
    Array,
    Capsule,
    Class,
    Constant,
    Device,
    Devices,
    Elements,
    Fact,
    Foreign,
    Function,
    Host,
    Instance,
    Mapping,
    Mesh,
    Method,
    Namespace,
    OneOf,
    Partial,
    Sequence,
    Sharding,
    Spec,
    Symbol,
    Test,
    Transformed,
    Value,
    Version,
)
from shardlint.placement.frame import Code
from shardlint.placement.lattice import alternatives, leaves
from shardlint.placement.probe import Context, Probe
from shardlint.placement.trace import Trace
from shardlint.rules.sources import Sources
from shardlint.rules.wording import devices_words
from shardlint.syntax.tree import Place

_MOST_ITEMS = 4
_LONGEST = 40


def beliefs(probe: Probe, sources: Sources) -> tuple[Belief, ...]:
    """What a probe has noted: by context in the order in which they came up, then by position."""
    found: list[tuple[int, Belief]] = []
    contexts: dict[Context | None, int] = {}
    reached: set[ast.AST] = set()
    for note in probe.notes:
        reached.add(note.place.node)
        number = contexts.setdefault(note.context, len(contexts))
        words = tuple(dict.fromkeys(phrase(one) for one in alternatives(note.value)))
        found.append((number, _belief(note.place, sources, _way(note.context, sources), words, _trace(note.value))))
    never = [place for place in probe.places if place.node not in reached]
    found += [(len(contexts), _belief(place, sources, None, (), None)) for place in never]
    return tuple(one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1].location.span)))


def _belief(place: Place, sources: Sources, way: Way | None, words: tuple[str, ...], trace: Trace | None) -> Belief:
    node = place.node
    name = node.arg if isinstance(node, ast.arg) else ast.unparse(node)
    steps = () if trace is None else trace.steps()
    return Belief(
        name, sources.location(place), way, words, tuple(Step(sources.location(at), text) for at, text in steps)
    )


def _way(context: Context | None, sources: Sources) -> Way | None:
    if context is None:
        return None
    given = tuple((name, _all(value)) for name, value in context.given)
    return Way(context.name, None if context.caller is None else sources.location(context.caller), given)


def _trace(value: Value) -> Trace | None:
    """The evidence of the first part of a value that has any."""
    return next((trace for leaf in leaves(value) if (trace := getattr(leaf, "trace", None)) is not None), None)


def _all(value: Value) -> str:
    return " or ".join(dict.fromkeys(phrase(one) for one in alternatives(value)))


def phrase(value: Value) -> str:
    """What a value is, as a noun phrase."""
    match value:
        case Array() if value.traced:
            return "a tracer, which is on no device yet"
        case Array(count=None):
            return "a JAX array, nobody knows on how many devices"
        case Array(count=count):
            return f"a JAX array on {devices_words(count)}"
        case Host():
            return "a NumPy array or a number"
        case Foreign(library):
            return f"a value of {library}"
        case Capsule():
            return "a DLPack capsule"
        case Mesh(count):
            return f"a mesh over {count.words()}"
        case Sharding(count):
            return f"a sharding over {count.words()}"
        case Devices(count):
            return f"a list of {count.words()}"
        case Device():
            return "a device"
        case Spec():
            return "a PartitionSpec"
        case Constant(constant):
            shown = repr(constant)
            return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
        case Symbol(name) | Namespace(name):
            return f"`{name.removeprefix('builtins.')}`"
        case OneOf():
            return _all(value)
        case Sequence() | Mapping() | Elements() | Instance():
            return _container(value)
        case _:
            return _other(value)


def _container(value: Sequence | Mapping | Elements | Instance) -> str:
    match value:
        case Sequence(items):
            return f"a sequence of {_listed([_all(item) for item in items])}"
        case Elements(item):
            return f"a container of any number, each {_all(item)}"
        case Mapping(items):
            return f"a dict of {_listed([f'{key!r}: {_all(item)}' for key, item in items])}"
        case Instance(definition, items):
            inside = f" with {_listed([f'{name}: {_all(item)}' for name, item in items])}" if items else ""
            return f"an object of {definition.name}{inside}"


def _listed(parts: list[str]) -> str:
    more = len(parts) - _MOST_ITEMS
    shown = "; ".join(parts[:_MOST_ITEMS]) + (f"; and {more} more" if more > 0 else "")
    return f"({shown})" if parts else "nothing"


def _other(value: Value) -> str:
    match value:
        case Function(code):
            return f"the function {code.name}" if isinstance(code, Code) else "a function"
        case Class(definition):
            return f"the class {definition.name}"
        case Partial(function) | Transformed(function=function):
            how = f"what jax.{value.how} made of" if isinstance(value, Transformed) else "a part of a call of"
            return f"{how} {phrase(function)}"
        case Method(Array(), name):
            return f"the attribute {name} of an array"
        case Fact(what):
            return f"the {what} of an array"
        case Test():
            return "a test that tells on how many devices an array is"
        case Version():
            return "the version of JAX"
        case _:
            return "unknown"
