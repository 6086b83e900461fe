"""What calling a function of JAX or of a neighbour does to placement: the meaning of each name that api.toml uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shardlint.placement.devices import DEVICE_EFFECTS
from shardlint.placement.domain import Value
from shardlint.placement.effects import arrays, contexts, placing, program, transforms, trees
from shardlint.placement.site import Site

EFFECTS: Mapping[str, Callable[[Site], Value]] = {
    **DEVICE_EFFECTS,
    "unknown": program.unknown,
    "stop": program.stop,
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
    "loop-carry": arrays.loop_carry,
    "scan": arrays.scan,
    "place": placing.place,
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
    "partial": transforms.partial,
    "same-function": transforms.same_function,
    "wraps": transforms.wraps,
    "reduce": transforms.reduce,
    "tree-map": trees.tree_map,
    "leaves": trees.tree_leaves,
    "tree-flatten": trees.tree_flatten,
    "tree-unflatten": trees.tree_unflatten,
}

TRACING = frozenset({"jit", "pmap", "pmap-stacked", "shard-map", "transform"})
"""The effects whose functions JAX calls with tracers."""
