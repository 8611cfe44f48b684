"""The kube-scheduler's own filter plugins, as a program that answers which nodes refuse a pod and why.

It must not know Ebb: what `placement` says of single pods and of whole plans is judged against it.
"""

from tests.real.scheduler_filters.program import Question, SchedulerFilters

__all__ = ["Question", "SchedulerFilters"]
