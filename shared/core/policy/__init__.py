"""The policy's settings in force, under one name for those who ask them; `parsing` reads a document."""

from shared.core.policy.cluster_fields import WATCHDOGS as WATCHDOGS
from shared.core.policy.cluster_fields import DrainSettings as DrainSettings
from shared.core.policy.cluster_fields import Policy as Policy
from shared.core.policy.fields import PoolPolicy as PoolPolicy
from shared.core.policy.values import KARPENTERS_REASONS as KARPENTERS_REASONS
from shared.core.policy.values import STRICTEST_POD_RULES as STRICTEST_POD_RULES
from shared.core.policy.values import Budget as Budget
from shared.core.policy.values import BudgetUntil as BudgetUntil
from shared.core.policy.values import ConsolidationPolicy as ConsolidationPolicy
from shared.core.policy.values import Freeze as Freeze
from shared.core.policy.values import Jobs as Jobs
from shared.core.policy.values import KubeSystemPods as KubeSystemPods
from shared.core.policy.values import Limit as Limit
from shared.core.policy.values import LocalStorage as LocalStorage
from shared.core.policy.values import LongGrace as LongGrace
from shared.core.policy.values import NamespaceRate as NamespaceRate
from shared.core.policy.values import PodRules as PodRules
from shared.core.policy.values import Preference as Preference
from shared.core.policy.values import Rate as Rate
from shared.core.policy.values import Schedule as Schedule
from shared.core.policy.values import SingleReplicas as SingleReplicas
