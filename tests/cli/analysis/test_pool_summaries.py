"""The pools of a plan add up to the cluster, and what goes is counted where it lies."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from functions.cli.analysis.pools import pool_summaries, summarize, without_requests
from shared.core.cluster.pod import Phase, Pod
from shared.core.planning.plan import NodeDecision, Verdict
from tests.builders import pod, resources
from tests.core.planning.passes import decision
from tests.depth import cases


def _decision(name: str, pool: str, verdict: Verdict = Verdict.KEEP, cost: int = 100, cpu: float = 2) -> NodeDecision:
    size, asked = resources(cpu=4, memory=16), resources(cpu=cpu, memory=4)
    return replace(decision(name, verdict), pool=pool, cost=cost, allocatable=size, requested=asked)


@cases(
    "expected, pods",
    ("all request both", "", [pod("a")]),
    ("no CPU", "1 of 2 pods request no CPU", [pod("a"), pod("b", cpu=0)]),
    ("no memory", "1 of 1 pods request no memory", [pod("a", memory=0)]),
    ("each by itself", "2 of 3 pods request no CPU and 1 no memory",
     [pod("a"), pod("b", cpu=0), pod("c", cpu=0, memory=0)]),
    ("a DaemonSet's stays with its node", "", [pod("a", cpu=0, owner="DaemonSet/logs")]),
    ("a finished one uses nothing", "", [pod("a", cpu=0, phase=Phase.SUCCEEDED)]),
    ("what the pod takes here, not what it takes elsewhere", "1 of 1 pods request no CPU",
     [pod("a", cpu=1, booked=resources(memory=1))]),
)  # fmt: skip
def test_pods_without_requests_are_counted_by_resource(expected: str, pods: list[Pod]) -> None:
    assert str(without_requests(pods)) == expected


def test_a_pool_is_as_full_as_all_its_nodes_together() -> None:
    (pool,) = pool_summaries((_decision("n1", "a", cpu=1), _decision("n2", "a", cpu=4)))
    assert (pool.cpu_ratio, pool.memory_ratio) == (Fraction(5, 8), Fraction(1, 4))


def test_a_pool_of_nodes_that_report_nothing_has_no_ratio() -> None:
    (pool,) = pool_summaries((decision("n1"),))
    assert (pool.cpu_ratio, pool.memory_ratio) == (None, None)


def test_nodes_that_others_keep_or_pay_for_are_no_part_of_their_pool() -> None:
    """A node that stands by, or that Google manages, would make its pool look larger and emptier than it is."""
    rows = (_decision("n1", "a", cpu=3), replace(_decision("n2", "a", cpu=0), outside=True))
    (pool,) = pool_summaries(rows)
    assert (pool.nodes, pool.cpu_ratio, pool.verdicts) == (1, Fraction(3, 4), {Verdict.KEEP: 1})
    assert summarize(None, rows).nodes == 1


def test_an_order_saves_what_its_node_costs_in_dry_run_too() -> None:
    (pool,) = pool_summaries((_decision("n1", "a", Verdict.WOULD_ORDER, 70), _decision("n2", "a", Verdict.WAITING)))
    assert pool.saving == 70


def test_what_could_go_and_what_is_gone_in_steady_state_is_counted_by_name() -> None:
    rows = (_decision("n1", "a"), _decision("n2", "b"), _decision("n3", "b"))
    found = pool_summaries(rows, {"n1", "n3"}, {"n3"})
    assert [(pool.could_go, pool.could_save, pool.rest_go, pool.rest_save) for pool in found] == [
        (1, 100, 0, 0),
        (1, 100, 1, 100),
    ]


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(Verdict), st.integers(0, 900)), max_size=9))
def test_the_pools_add_up_to_the_cluster(rows: list[tuple[str, Verdict, int]]) -> None:
    plan = [_decision(f"n{at}", pool, verdict, cost) for at, (pool, verdict, cost) in enumerate(rows)]
    pools, whole = pool_summaries(plan), summarize(None, plan)
    assert sum(pool.nodes for pool in pools) == whole.nodes == len(rows)
    assert sum(pool.cost for pool in pools) == whole.cost
    assert sum(pool.saving for pool in pools) == whole.saving
    assert all(
        sum(pool.verdicts.get(verdict, 0) for pool in pools) == whole.verdicts.get(verdict, 0) for verdict in Verdict
    )
