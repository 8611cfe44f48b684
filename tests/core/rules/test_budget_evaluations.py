"""Budgets that many pools share are evaluated once a pass."""

import sys
from collections import Counter
from types import FrameType

from shared.core.policy.parsing import parse
from shared.core.policy.schedule import active
from shared.core.rules.budgets import Calendar
from tests.bench.policies import BUDGETS, POOLS, document, evaluated
from tests.builders import NOW


def test_each_schedule_is_evaluated_once_however_many_pools_share_it() -> None:
    policy, calls = parse(document()), Counter[str]()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is active.__code__:
            calls[str(frame.f_locals["schedule"])] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = evaluated(policy, Calendar(NOW))
    finally:
        sys.setprofile(before)

    assert len(found) == POOLS
    assert (len(calls), set(calls.values())) == (BUDGETS, {1})
