"""The settings in force by the path that a person writes them at, made from the fields of the policy's types.

A new field appears here by itself, under its own name in the document's spelling; only names that differ stand in the
tables, and tests hold every path to the schema. Must not word values: who shows them does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import fields as struct_fields
from pydantic.alias_generators import to_camel

from shared.core.policy import DrainSettings, Policy, PoolPolicy

_POOL: Final[Mapping[str, str]] = {
    "cpu_limit": "scaleDownCPURequestRatioLimit",
    "memory_limit": "scaleDownMemoryRequestRatioLimit",
    "required_count": "scaleDownRequiredUnderutilizedNodeCount",
    "excess_threshold": "excessNodesThreshold",
    "headroom_percent": "headroom",
    "consolidation_policy": "disruption.consolidationPolicy",
    "consolidate_after": "disruption.consolidateAfter",
    "expire_after": "disruption.expireAfter",
    "budgets": "disruption.budgets",
    "windows": "disruption.windows",
}
_TOP: Final[Mapping[str, str]] = {
    "dry_run": "dryRun",
    "paused": "paused",
    "budgets": "cluster.disruption.budgets",
    "manual_may_ignore": "manual.mayIgnore",
}
"""Every other field of the policy belongs under `cluster`."""
_DRAIN: Final[Mapping[str, str]] = {
    "max_grace": "drain.maxGracePeriod",
    "backoff_first": "drain.backoff.first",
    "backoff_most": "drain.backoff.most",
}
NO_SETTINGS: Final = frozenset({"hash", "drain", "watchdog_by_profile", "pools", "other_pools"})
"""Fields of the policy that are none themselves: what names it, what holds settings, whose default a setting is."""

POOL_PATHS: Final = MappingProxyType(
    {each.name: _POOL.get(each.name, to_camel(each.name)) for each in fields(PoolPolicy)}
)
"""By field of `PoolPolicy`: the path below `nodePools.NAME`."""
CLUSTER_PATHS: Final = MappingProxyType(
    {
        each.name: _TOP.get(each.name, f"cluster.{to_camel(each.name)}")
        for each in fields(Policy)
        if each.name not in NO_SETTINGS
    }
)
"""By field of `Policy`: the path in the document."""
DRAIN_PATHS: Final = MappingProxyType(
    {each.name: _DRAIN.get(each.name, f"drain.{to_camel(each.name)}") for each in struct_fields(DrainSettings)}
)
"""By field of `DrainSettings`: the path in the document."""


def pool_settings(pool: PoolPolicy) -> dict[str, Any]:
    """Return one pool's settings in force by their path below `nodePools.NAME`."""
    return _by_path(pool, POOL_PATHS.items())


def cluster_settings(policy: Policy) -> dict[str, Any]:
    """Return the settings in force of all that is not a pool's, by their path in the document."""
    return {**_by_path(policy, CLUSTER_PATHS.items()), **_by_path(policy.drain, DRAIN_PATHS.items())}


def _by_path(holder: object, paths: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return {path: getattr(holder, name) for name, path in paths}
