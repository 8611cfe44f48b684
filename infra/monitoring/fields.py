"""Fields that several events share. Units: cores, bytes, dollars, seconds; ratios from 0 to 1."""

from typing import Final

from infra.monitoring.table import Field, Type

POLICY_HASH: Final = Field("policy_hash", Type.TEXT, "the policy in force, empty without a valid one", sometimes=True)
GENERATION: Final = Field("generation", Type.INTEGER, "the number of the drain's step")
SIZES: Final = (
    Field("allocatable_cpu", Type.NUMBER, "cores that pods may request"),
    Field("allocatable_memory", Type.INTEGER, "bytes that pods may request"),
    Field("requested_cpu", Type.NUMBER, "cores that pods request"),
    Field("requested_memory", Type.INTEGER, "bytes that pods request"),
    Field("cpu_ratio", Type.NUMBER, "requested by allocatable CPU", sometimes=True),
    Field("memory_ratio", Type.NUMBER, "requested by allocatable memory", sometimes=True),
)
GAUGES: Final = (
    Field("nodes", Type.INTEGER, "all nodes"),
    Field("ready_nodes", Type.INTEGER, "nodes that are Ready"),
    Field("non_tainted_nodes", Type.INTEGER, "schedulable nodes without a taint that repels pods"),
    Field("unschedulable_nodes", Type.INTEGER, "cordoned nodes, whoever cordoned them"),
    Field("underutilized", Type.INTEGER, "nodes of enabled pools, old enough, below both ratio limits, not in flight"),
    Field("marked", Type.INTEGER, "nodes with a mark"),
    Field("in_flight", Type.INTEGER, "nodes that a drain holds"),
    Field("pods", Type.INTEGER, "pods; those of no node count for the cluster"),
    *SIZES,
    Field("excess_nodes", Type.NUMBER, "nodes to spare, in units of the least used one", sometimes=True),
    Field("cost_per_hour", Type.NUMBER, "dollars by the price table"),
    Field("saving_per_hour", Type.NUMBER, "dollars that this pass's orders save (in dry run: would save)"),
)
TOOK: Final = (
    Field("drain_seconds", Type.NUMBER, "from the cordon until the node was empty, or until now", sometimes=True),
    Field("deletion_seconds", Type.NUMBER, "from the empty node until now: the autoscaler's time", sometimes=True),
    Field("pods_evicted", Type.INTEGER, "pods that have moved", sometimes=True),
)
