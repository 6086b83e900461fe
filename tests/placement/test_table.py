"""The table of effects as data."""

from __future__ import annotations

from shardlint.placement.effects import EFFECTS
from shardlint.placement.rows import Effect
from shardlint.placement.table import GONE, TO_COME
from shardlint.placement.tables import load

TABLE = load()


def test_every_effect_has_a_meaning_and_every_meaning_a_use() -> None:
    """Names in api.toml are those of EFFECTS; nothing there is left over."""
    rows = [*TABLE.effects.values(), *(effect for _, effect in TABLE.namespaces)]
    earlier = [row.earlier[1] for row in rows if row.earlier is not None]
    assert {row.name for row in (*rows, *earlier)} == set(EFFECTS)


def test_a_name_with_a_time_of_its_own_is_no_alias() -> None:
    """An alias means the same on every version; a name that came or went at another time than its like is listed beside it."""
    assert not TABLE.aliases.keys() & TABLE.timeline.keys()


def test_what_did_not_exist_has_no_effect() -> None:
    """A function that is to come does nothing, one that is gone what it did; a name without a time was always there."""
    assert TABLE.effect("jax.set_mesh", ("0.4.38",)) == Effect("unknown")
    found = TABLE.effect("jax.device_put_sharded", ("0.10.2",))
    assert found is not None
    assert found.name == "place-on-list"
    assert TABLE.exists("jax.experimental.shard_map.shard_map", ("0.4.38",)) is None
    assert TABLE.exists("jax.shard_map", ("0.4.38",)) is False
    assert TABLE.exists("jax.shard_map", ("0.4.38", "0.6.2")) is None


def test_the_fate_of_a_name() -> None:
    """A name is gone or to come, on its own account or with what holds it; a keyword argument is named like an attribute."""
    assert TABLE.fate("jax.device_put_sharded", "0.10.2") == GONE
    assert TABLE.fate("jax.device_put_sharded", "0.9.2") is None
    assert TABLE.fate("jax.sharding.use_mesh", "0.4.38") == TO_COME
    assert TABLE.fate("jax.sharding.use_mesh", "0.7.1") == GONE
    assert TABLE.fate("jax.Array.device_buffer", "0.4.30") == GONE
    assert TABLE.fate("jax.experimental.maps.xmap", "0.10.2") == GONE
    assert TABLE.fate("jax.dlpack.from_dlpack.backend.__keyword__", "0.4.30") == GONE
    assert TABLE.fate("jax.dlpack.from_dlpack.device.__keyword__", "0.4.30") is None
    assert TABLE.fate("jax.Array.sharding", "0.10.2") is None


def test_everything_of_a_module() -> None:
    """A star import brings the names that the target has."""
    old, new = TABLE.names_in("jax.sharding", ("0.4.38",)), TABLE.names_in("jax.sharding", ("0.10.2",))
    assert new["NamedSharding"] == "jax.sharding.NamedSharding"
    assert "PositionalSharding" in old
    assert "PositionalSharding" not in new
