"""A large policy: fifty budgets in `defaults` over two hundred pools, evaluated for one moment."""

import json
from typing import Any

from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.core.reasons import DrainReason
from shared.core.rules.budgets import Calendar, limit_now
from tests.bench.reporting import say, timed
from tests.builders import NOW

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
    """Return what each pool allows, as a pass asks for it."""
    return [limit_now(pool.budgets, DrainReason.UNDERUTILIZED, 10, calendar) for pool in policy.pools.values()]


def run(*, quick: bool) -> None:
    del quick
    data = document()
    parse(data)  # the readers are compiled at their first use
    parsing, policy = timed(lambda: parse(data))
    evaluating, _ = timed(lambda: evaluated(policy, Calendar(NOW)))
    what = f"{BUDGETS} budgets over {POOLS} pools: evaluation / parsing"
    say(what, f"{evaluating * 1000:.0f} ms / {parsing * 1000:.0f} ms = {evaluating / parsing:.1%}", "20% at most")
