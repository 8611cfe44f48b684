"""A large policy: fifty budgets in `defaults` over two hundred pools, evaluated for one moment."""

import json
from typing import Any

from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.core.reasons import DrainReason
from shared.core.rules.budgets import Calendar, limit_now
from tests.builders import NOW
from tests.measured_figures import say, timed

POOLS, BUDGETS = 200, 50
_ZONES = ("UTC", "Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe")


def document() -> bytes:
    budgets: list[dict[str, Any]] = [
        {
            "nodes": f"{number % 100}%",
            "schedule": f"{number} {number % 24} * * mon-fri",
            "duration": "8h",
            "timeZone": _ZONES[number % len(_ZONES)],
        }
        for number in range(BUDGETS)
    ]
    pools = {f"pool-{number}": {"enabled": True} for number in range(POOLS)}
    return json.dumps({"defaults": {"disruption": {"budgets": budgets}}, "nodePools": pools}).encode()


def evaluated(policy: Policy, calendar: Calendar) -> list[int | None]:
    return [limit_now(pool.budgets, DrainReason.UNDERUTILIZED, 10, calendar) for pool in policy.pools.values()]


def evaluated_alone(policy: Policy) -> list[int | None]:
    """Return the same, each pool looking at its own schedules: a reconciler per pool."""
    return [limit_now(pool.budgets, DrainReason.UNDERUTILIZED, 10, Calendar(NOW)) for pool in policy.pools.values()]


def run(*, quick: bool) -> None:
    del quick
    policy = parse(document())
    together, limits = timed(lambda: evaluated(policy, Calendar(NOW)))
    alone, same = timed(lambda: evaluated_alone(policy))
    assert limits == same
    what = f"{BUDGETS} budgets over {POOLS} pools: schedules once / in each pool"
    say(what, f"{together * 1000:.0f} ms / {alone * 1000:.0f} ms = {together / alone:.1%}", "2% at most")
