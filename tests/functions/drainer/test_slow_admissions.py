"""An admission whose calls are slow and succeed: it keeps its lease, and has an end. On fakes."""

from collections.abc import Iterable
from functools import partial

import pytest

from functions.drainer.admit import ADMITTED_WITHIN
from functions.drainer.main import PushReply
from shared.core.policy import DrainSettings
from tests.builders import node, order, pdb, pod, policy
from tests.functions.drainer.one_drain import WEB, holder
from tests.functions.fake_ebb import FakeEbb

READS = ("all_nodes", "unbound_pods", "disruption_budgets", "pods_on", "workloads_of")
ONE_BY_ONE = policy(cluster_wide={"drain": DrainSettings(max_parallel_evictions=1)})


def fake_ebb(pods: int = 1) -> FakeEbb:
    there = (pod(f"p{number}", on="n1", kind=WEB, cpu=0.1) for number in range(pods))
    return FakeEbb(node("n1"), node("n2"), *there, pdb("web", allowed=pods, app="web"), policy=ONE_BY_ONE)


def slow(ebb: FakeEbb, seconds: float, names: Iterable[str]) -> list[str]:
    """Let each of these calls take so long while an order is admitted; return those that came without a lease."""
    unleased: list[str] = []

    def slowed(name: str) -> None:
        if not ebb.remembered().claims:
            ebb.clock.advance(seconds)
            lease = ebb.record().lease
            if lease is None or not lease.is_held(ebb.clock.now()):
                unleased.append(name)

    ebb.cluster.meanwhile |= {(name,): partial(slowed, name) for name in names}
    return unleased


@pytest.mark.parametrize("names", [READS, ("evict",)], ids=["reads", "dry evictions"])
def test_no_call_of_an_admission_comes_after_its_lease(names: tuple[str, ...]) -> None:
    ebb = fake_ebb(pods=2)
    unleased = slow(ebb, 11, names)

    ebb.drain(order())

    assert unleased == []


@pytest.mark.parametrize(
    ("seconds", "names"), [(25, READS), (29, READS), (20, ("evict",))], ids=["reads", "slower ones", "dry evictions"]
)
def test_an_admission_ends_within_a_minute_and_the_call_that_is_under_way(
    seconds: float, names: tuple[str, ...]
) -> None:
    ebb = fake_ebb(pods=9)
    slow(ebb, seconds, names)

    assert ebb.drain(order()) is PushReply.AGAIN

    assert ADMITTED_WITHIN < ebb.clock.passed <= ADMITTED_WITHIN + seconds
    assert (ebb.remembered().claims, holder(ebb)) == ({}, None)
    assert ebb.record().lease is None
