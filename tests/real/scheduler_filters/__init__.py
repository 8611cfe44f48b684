"""The kube-scheduler's own filter plugins as a program that tells which nodes refuse a pod. It must not know Ebb."""

from tests.real.scheduler_filters.program import Question, SchedulerFilters

__all__ = ["Question", "SchedulerFilters"]
