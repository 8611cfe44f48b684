"""A policy without what time opens: windows, freezes and schedules open again, and what is young grows old.

Must not leave out what never opens by itself.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from shared.core.policy import Policy, PoolPolicy

_NO_TIME: Final = timedelta(0)


def without_calendar(policy: Policy) -> Policy:
    """Return the policy without what time opens; an empty list of windows never opens, and stays."""
    return replace(
        policy,
        freezes=(),
        budgets=tuple(each for each in policy.budgets if each.schedule is None),
        pools={name: _timeless(pool) for name, pool in policy.pools.items()},
        other_pools=_timeless(policy.other_pools),
    )


def _timeless(pool: PoolPolicy) -> PoolPolicy:
    budgets = tuple(each for each in pool.budgets if each.schedule is None)
    windows = pool.windows if pool.windows == () else None
    return replace(pool, windows=windows, budgets=budgets, minimum_node_age=_NO_TIME, minimum_pod_age=_NO_TIME)
