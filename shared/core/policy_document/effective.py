"""From the policy as written to the policy in force: every default applied, every pool complete.

Must not judge: what can be written wrong was found before.
"""

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from msgspec.structs import replace

from shared.core.policy import Budget, DrainSettings, Freeze, NamespaceRate, Policy, PoolPolicy, Rate, Schedule
from shared.core.policy_document.models import DisruptionSection, DrainSection, PolicySection, PoolSection
from shared.core.policy_document.scalars import at
from shared.core.policy_document.sections import (
    BudgetSection,
    FreezeSection,
    NamespaceRateSection,
    RateSection,
    ScheduleSection,
)

HASH_LENGTH: Final = 12


def effective(section: PolicySection, written: Mapping[str, Any]) -> Policy:
    """Return the policy in force; `written` is the same document as plain values."""
    cluster, defaults = section.cluster, written.get("defaults", {})
    pools = {name: _pool(_merged(defaults, pool)) for name, pool in written.get("nodePools", {}).items()}
    return Policy(
        hash=document_hash(written),
        dry_run=section.dry_run,
        paused=section.paused,
        minimum_nodes=cluster.minimum_nodes,
        minimum_non_tainted_nodes=cluster.minimum_non_tainted_nodes,
        time_since_last_addition=cluster.time_since_last_addition,
        time_gap=cluster.time_gap,
        budgets=_budgets(cluster.disruption.budgets),
        rate=_rate(cluster.rate),
        evictions_per_namespace=_namespace_rate(cluster.evictions_per_namespace),
        freezes=tuple(_freeze(each) for each in cluster.freezes),
        drain=_drain(section.drain),
        watchdog_by_profile=section.drain.watchdog is None,
        manual_may_ignore=frozenset(section.manual.may_ignore),
        pools=dict(sorted(pools.items())),
        other_pools=_pool({**defaults, "enabled": False}),
    )


def required_count(limit: Fraction) -> int:
    """Return the smallest n with n·(1 - limit) ≥ 1, in exact arithmetic; 1 where there is none (limit 1).

    So many nodes just under the limit have together the room of one more (estafette's README; B14).
    """
    left = 1 - limit
    return 1 if left <= 0 else -(-left.denominator // left.numerator)


def document_hash(written: Mapping[str, Any]) -> str:
    """Return a short SHA-256 of the document, whatever the order of its keys and the form of its decimals."""
    text = json.dumps(written, sort_keys=True, default=_plain, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def _plain(value: object) -> str:
    return str(value.normalize()) if isinstance(value, Decimal) else str(value)


def _merged(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Lay what a pool writes over the defaults; blocks field by field, lists as a whole."""
    rows = {**defaults, **own}
    both = (name for name in defaults.keys() & own.keys())
    blocks = {name: {**defaults[name], **own[name]} for name in both if isinstance(own[name], Mapping)}
    return {**rows, **blocks}


def _pool(written: Mapping[str, Any]) -> PoolPolicy:
    section = PoolSection.model_validate(written)
    required = section.scale_down_required_underutilized_node_count
    block = section.disruption or DisruptionSection()
    return PoolPolicy(
        enabled=section.enabled,
        cpu_limit=section.scale_down_cpu_request_ratio_limit,
        memory_limit=section.scale_down_memory_request_ratio_limit,
        required_count=required_count(section.scale_down_cpu_request_ratio_limit) if required is None else required,
        minimum_node_age=section.minimum_node_age,
        excess_threshold=section.excess_nodes_threshold,
        max_nodes_per_pass=section.max_nodes_per_pass,
        headroom_percent=section.headroom,
        kube_system_pods=section.kube_system_pods,
        local_storage=section.local_storage,
        long_grace=section.long_grace,
        unprotected=section.unprotected,
        single_replicas=section.single_replicas,
        jobs=section.jobs,
        minimum_pod_age=section.minimum_pod_age,
        ignore_taints=frozenset(section.ignore_taints),
        time_since_last_addition=section.time_since_last_addition,
        consolidation_policy=block.consolidation_policy,
        consolidate_after=block.consolidate_after,
        expire_after=block.expire_after,
        budgets=_budgets(block.budgets),
        windows=None if block.windows is None else tuple(_schedule(each) for each in block.windows),
        rate=None if section.rate is None else _rate(section.rate),
    )


def _budgets(sections: tuple[BudgetSection, ...]) -> tuple[Budget, ...]:
    return tuple(_budget(each) for each in sections)


def _budget(section: BudgetSection) -> Budget:
    schedule = None
    if section.schedule is not None and section.duration is not None:
        schedule = Schedule(section.schedule, section.duration, section.time_zone)
    return Budget(section.nodes, schedule, frozenset(section.reasons))


def _schedule(section: ScheduleSection) -> Schedule:
    return Schedule(section.schedule, section.duration, section.time_zone)


def _rate(section: RateSection) -> Rate:
    return Rate(section.nodes, section.per)


def _namespace_rate(section: NamespaceRateSection | None) -> NamespaceRate | None:
    return None if section is None else NamespaceRate(section.pods, section.per)


def _freeze(section: FreezeSection) -> Freeze:
    return Freeze(at(section.start, section.time_zone), at(section.end, section.time_zone))


def _drain(section: DrainSection) -> DrainSettings:
    settings = DrainSettings(
        max_grace=section.max_grace_period,
        timeout=section.timeout,
        pending_grace=section.pending_grace,
        backoff_first=section.backoff.first,
        backoff_most=section.backoff.most,
        max_parallel_evictions=section.max_parallel_evictions,
    )
    return settings if section.watchdog is None else replace(settings, watchdog=section.watchdog)
