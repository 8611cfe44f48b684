"""Which change takes each reason away: what `why-not` plans anew. One line for each reason that one can be tried of."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Final

from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.lifting import (
    Lifting,
    Scope,
    Subject,
    ignoring_taint,
    narrowly_tolerant,
    no_budget,
    no_headroom,
    on_node,
    on_picture,
    on_policy,
    on_template,
    one_may_go,
    open_namespace,
    safe_to_evict,
    with_an_owner,
    with_cluster,
    with_node_pool,
    with_pool,
    with_spec,
    without,
    without_node_opt_outs,
    without_opt_outs,
)
from shared.core.cluster import names
from shared.core.cluster.resources import NOTHING
from shared.core.policy import ConsolidationPolicy, Jobs, KubeSystemPods, Limit, LongGrace, SingleReplicas
from shared.core.reasons import PodBlock, Reason, Unremovable
from shared.core.rules.situation import Situation

GAP_INSTEAD: Final = (PodBlock.SURGE_FORBIDDEN, PodBlock.SURGE_IMPOSSIBLE)
"""What keeps a pod that is to be moved without a gap: a gap would free its node."""
LIFTS: Final[Mapping[Reason, Lifting]] = {
    PodBlock.NOT_SAFE_TO_EVICT: on_template(
        lambda spec: replace(spec, annotations=without(spec.annotations, names.SAFE_TO_EVICT))
    ),
    PodBlock.DO_NOT_DISRUPT: on_template(without_opt_outs),
    PodBlock.NAMESPACE_CLOSED: Lifting(Scope.NAMESPACE, on_picture(open_namespace)),
    PodBlock.NOT_REPLICATED: on_template(with_an_owner),
    PodBlock.LOCAL_STORAGE: on_template(safe_to_evict),
    PodBlock.KUBE_SYSTEM: with_pool(kube_system_pods=KubeSystemPods.EVICT),
    PodBlock.PDB_EXHAUSTED: Lifting(Scope.BUDGET, on_picture(one_may_go)),
    PodBlock.PDB_NEVER_ALLOWS: Lifting(Scope.BUDGET, on_picture(one_may_go)),
    PodBlock.SEVERAL_PDBS: Lifting(Scope.BUDGET, on_picture(no_budget)),
    PodBlock.SINGLE_REPLICA: with_pool(single_replicas=SingleReplicas.MOVE),
    **dict.fromkeys(GAP_INSTEAD, with_pool(single_replicas=SingleReplicas.MOVE)),
    PodBlock.JOB: with_pool(jobs=Jobs.MOVE),
    PodBlock.JOB_RUNNING: with_pool(jobs=Jobs.MOVE),
    PodBlock.TOO_FEW_AVAILABLE: with_pool(unprotected=Limit(percent=100)),
    PodBlock.GRACE_TOO_LONG: with_pool(long_grace=LongGrace.CUT),
    PodBlock.TOLERATES_DRAIN_TAINT: on_template(narrowly_tolerant),
    PodBlock.NAMES_ITS_NODE: with_spec(node_selector={}, node_terms=None),
    PodBlock.SCHEDULING_GATES: with_spec(scheduling_gates=()),
    Exclusion.SELECTOR: with_spec(node_selector={}, node_terms=None),
    Exclusion.ANTI_AFFINITY: with_spec(anti_affinity=()),
    Exclusion.AFFINITY: with_spec(affinity=()),
    Exclusion.HOST_PORT: with_spec(host_ports=()),
    Exclusion.SPREAD: with_spec(hard_spread=()),
    Exclusion.ROOM: Lifting(Scope.CLUSTER, on_policy(no_headroom)),
    Unremovable.POOL_DISABLED: with_pool(enabled=True),
    Unremovable.NOT_AUTOSCALED: with_node_pool(autoscaled=True),
    Unremovable.POOL_AT_MINIMUM: with_node_pool(min_per_zone=0, min_total=0),
    Unremovable.RESOURCE_MINIMUM: Lifting(Scope.CLUSTER, on_picture(lambda seen, _: replace(seen, minimum=NOTHING))),
    Unremovable.CORDONED_BY_OTHER: on_node(lambda node: replace(node, unschedulable=False)),
    Unremovable.TAINTED: Lifting(Scope.TAINT, on_policy(ignoring_taint)),
    Unremovable.SCALE_DOWN_DISABLED: on_node(without_node_opt_outs),
    Unremovable.NOT_EMPTY: with_pool(consolidation_policy=ConsolidationPolicy.WHEN_UNDERUTILIZED),
    Unremovable.CPU_ABOVE_LIMIT: with_pool(cpu_limit=Fraction(1)),
    Unremovable.MEMORY_ABOVE_LIMIT: with_pool(memory_limit=Fraction(1)),
    Unremovable.ACCELERATOR_ABOVE_LIMIT: with_pool(cpu_limit=Fraction(1)),
    Unremovable.CONSOLIDATION_OFF: with_pool(consolidate_after=timedelta(minutes=5)),
    Unremovable.TOO_FEW_UNDERUTILIZED: with_pool(required_count=1),
    Unremovable.NO_EXCESS: with_pool(excess_threshold=Fraction(0)),
    Unremovable.PAUSED: with_cluster(paused=False),
    Unremovable.MINIMUM_NODES: with_cluster(minimum_nodes=0),
    Unremovable.MINIMUM_NON_TAINTED: with_cluster(minimum_non_tainted_nodes=0),
    Unremovable.SAVING_TOO_SMALL: with_pool(minimum_saving=Fraction(0)),
}


def lifted(situation: Situation, subject: Subject) -> Situation:
    """Return the situation as it would be without that one thing."""
    return LIFTS[subject.reason].lift(situation, subject)
