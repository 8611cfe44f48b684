"""What is odd about a policy, unknown pools and settings hardly meant, is told once a day by whichever instance."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.core.cluster.names import DISRUPTION_COSTS
from shared.core.policy import DrainSettings, Policy, PoolPolicy
from tests.builders import pod
from tests.depth import cases
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import fake_ebb

POOL = PoolPolicy(enabled=True)
PLAIN = Policy(pools={"a": POOL}, dry_run=False, hash="plain")
"""Nothing is odd about it."""


MISSPELT = Policy(pools={"a": POOL, "aa": POOL}, dry_run=False, hash="misspelt")
PATIENT = Policy(
    pools={"a": POOL}, dry_run=False, hash="patient", drain=DrainSettings(pending_grace=timedelta(seconds=45))
)


@cases(
    "reason, expected, rules",
    ("an unknown pool", "unknown_pool",
     "nodePools.aa: the cluster has no such pool; pools without settings: none.", MISSPELT),
    ("what policy check warns of", "hardly_meant",
     "drain.pendingGrace: with 45s a moved pod may wait longer than the 30s that it is promised; write 20s.", PATIENT),
    ("a cost that cannot be read", "unread_cost", "disruption-cost is '-5' on 1 pod,", PLAIN),
)  # fmt: skip
def test_what_is_odd_is_a_warning_in_the_log_of_a_pass_once_a_day(reason: str, expected: str, rules: Policy) -> None:
    ebb = fake_ebb(policy=rules)
    if reason == "unread_cost":
        ebb.cluster.put(pod("odd", on="n1", annotations={DISRUPTION_COSTS[0]: "-5"}))

    ebb.tick()
    ebb.pass_time(minutes=5)
    ebb.tick()

    ((severity, message),) = told(ebb)
    assert (severity, expected in message, ebb.reasons("policy_warning")) == ("WARNING", True, [reason])


def told(ebb: FakeEbb) -> list[tuple[str, str]]:
    return [(str(line["severity"]), str(line["message"])) for line in ebb.log.of("policy_warning")]


def test_it_is_shown_once_a_day_whichever_instance_runs_the_pass() -> None:
    ebb = fake_ebb(policy=MISSPELT)
    for _ in range(3):
        ebb.tick()
        ebb.pass_time(minutes=5)
    assert len(told(ebb)) == 1

    ebb.pass_time(minutes=24 * 60)
    ebb.tick()
    assert len(told(ebb)) == 2


def test_what_was_shown_today_costs_no_more_writes() -> None:
    plain, odd = fake_ebb(policy=PLAIN), fake_ebb(policy=MISSPELT)
    writes = []
    for ebb in (plain, odd):
        ebb.tick()
        ebb.pass_time(minutes=5)
        before = ebb.state.writes
        ebb.tick()
        writes.append(ebb.state.writes - before)
    assert writes[0] == writes[1]


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_policy_with_nothing_odd_about_it_leaves_nothing_to_remember(dry_run: bool) -> None:
    ebb = fake_ebb(policy=replace(PLAIN, dry_run=dry_run))
    ebb.tick()
    assert (told(ebb), ebb.remembered().advised) == ([], None)
