"""What calling a function of JAX or of a neighbour does to placement: the meaning of each name that api.toml uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shardlint.placement.devices import DEVICE_EFFECTS
from shardlint.placement.domain import Value
from shardlint.placement.effects import arrays, contexts, loops, placing, program, transforms, trees
from shardlint.placement.site import Site

EFFECTS: Mapping[str, Callable[[Site], Value]] = {
    **DEVICE_EFFECTS,
    "unknown": program.unknown,
    "instance": program.instance,
    "stop": program.stop,
    "expect-failure": program.expect_failure,
    "version": program.version,
    "host": arrays.host,
    "foreign": arrays.foreign,
    "create": arrays.create,
    "like": arrays.like,
    "like-each": arrays.like_each,
    "like-or-same": arrays.like_or_same,
    "from-host": arrays.from_host,
    "same": arrays.same,
    "copy": arrays.copy,
    "import": arrays.import_,
    "one-shard": arrays.one_shard,
    "capsule": arrays.capsule,
    "device-set": arrays.device_set,
    "alike": arrays.alike_first,
    "alike-and-unknown": arrays.alike_and_unknown,
    "alike-second": arrays.alike_second,
    "method-of-first": arrays.method_of_first,
    "methods-of-first": arrays.methods_of_first,
    "reshape-of-first": arrays.reshape_of_first,
    "place": placing.place,
    "abstract": placing.abstract,
    "restore": placing.restore,
    "constrain": placing.constrain,
    "place-locally": placing.place_locally,
    "create-sharded": placing.create_sharded,
    "place-on-list": placing.place_on_list,
    "place-on-list-stacked": placing.place_on_list,
    "replicate": placing.replicate,
    "replicate-stacked": placing.replicate,
    "unreplicate": placing.unreplicate,
    "set-mesh": contexts.set_mesh,
    "default-device": contexts.default_device,
    "configure": contexts.configure,
    "spec": contexts.spec,
    "jit": transforms.transform("jit"),
    "pmap": transforms.transform("pmap"),
    "pmap-stacked": transforms.transform("pmap-stacked"),
    "shard-map": transforms.transform("shard-map"),
    "transform": transforms.transform("transform"),
    "pjit": transforms.transform("pjit"),
    "gradient": transforms.gradient,
    "jvp": transforms.jvp,
    "vjp": transforms.vjp,
    "pullback": transforms.pullback,
    "linearize": transforms.linearize,
    "cond": transforms.cond,
    "switch": transforms.switch,
    "map-rows": transforms.map_rows,
    "scan": loops.scan,
    "fori-loop": loops.fori_loop,
    "while-loop": loops.while_loop,
    "partial": transforms.partial,
    "same-function": transforms.same_function,
    "wraps": transforms.wraps,
    "reduce": transforms.reduce,
    "tree-map": trees.tree_map,
    "tree-map-with-path": trees.tree_map_with_path,
    "tree-reduce": trees.tree_reduce,
    "tree-structure": trees.tree_structure,
    "leaves": trees.tree_leaves,
    "tree-flatten": trees.tree_flatten,
    "tree-unflatten": trees.tree_unflatten,
}

TRACING = frozenset({"jit", "pmap", "pmap-stacked", "shard-map", "transform", "pjit", "gradient"})
"""The effects whose functions JAX calls with tracers."""
