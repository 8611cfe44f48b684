"""Pools of the policy that the cluster does not have are told once a day, whichever instance runs the pass."""

from dataclasses import replace

from shared.core.policy import PoolPolicy
from tests.builders import policy
from tests.shells.house import House
from tests.shells.planner_house import house


def misspelt() -> House:
    own = policy()
    return house(policy=replace(own, pools={**own.pools, "aa": PoolPolicy(enabled=True)}))


def told(ebb: House) -> list[tuple[str, str]]:
    return [(str(line["severity"]), str(line["message"])) for line in ebb.log.of("policy_warning")]


def test_an_unknown_pool_is_a_warning_in_the_log_of_a_pass() -> None:
    ebb = misspelt()

    ebb.tick()

    expected = "nodePools.aa: the cluster has no such pool; write a, if that was meant."
    assert told(ebb) == [("WARNING", expected)]
    assert ebb.reasons("policy_warning") == ["unknown_pool"]


def test_it_is_told_once_a_day_whichever_instance_runs_the_pass() -> None:
    ebb = misspelt()
    for _ in range(3):
        ebb.tick()
        ebb.pass_time(minutes=5)
    assert len(told(ebb)) == 1

    ebb.pass_time(minutes=24 * 60)
    ebb.tick()
    assert len(told(ebb)) == 2


def test_what_was_told_today_costs_no_more_writes() -> None:
    plain, odd = house(), misspelt()
    writes = []
    for ebb in (plain, odd):
        ebb.tick()
        ebb.pass_time(minutes=5)
        before = ebb.state.writes
        ebb.tick()
        writes.append(ebb.state.writes - before)
    assert writes[0] == writes[1]


def test_a_policy_without_such_a_pool_leaves_nothing_to_remember() -> None:
    ebb = house()
    ebb.tick()
    assert ebb.remembered().advised is None
