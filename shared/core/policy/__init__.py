"""The policy's settings in force, under one name for those who ask them.

`fields` and `cluster_fields` declare them, `values` holds what they are made of, `parsing` reads a
document.
"""

from shared.core.policy.cluster_fields import LEAST_AWAITING, WATCHDOGS, DrainSettings, Policy
from shared.core.policy.fields import PoolPolicy
from shared.core.policy.values import (
    KARPENTERS_REASONS,
    STRICTEST_POD_RULES,
    Budget,
    BudgetUntil,
    ConsolidationPolicy,
    Freeze,
    Jobs,
    KubeSystemPods,
    Limit,
    LocalStorage,
    LongGrace,
    NamespaceRate,
    PodRules,
    Preference,
    Rate,
    Schedule,
    SingleReplicas,
)

__all__ = [
    "KARPENTERS_REASONS",
    "LEAST_AWAITING",
    "STRICTEST_POD_RULES",
    "WATCHDOGS",
    "Budget",
    "BudgetUntil",
    "ConsolidationPolicy",
    "DrainSettings",
    "Freeze",
    "Jobs",
    "KubeSystemPods",
    "Limit",
    "LocalStorage",
    "LongGrace",
    "NamespaceRate",
    "PodRules",
    "Policy",
    "PoolPolicy",
    "Preference",
    "Rate",
    "Schedule",
    "SingleReplicas",
]
