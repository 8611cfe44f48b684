"""A little cluster with one drain in it, for the tests of the drainer."""

from datetime import timedelta
from typing import Any

from shared.core.records.orders import Order, OrderKind
from tests.builders import NOW, node, order, pdb, pod, pod_class
from tests.functions.fake_ebb import FakeEbb

WEB = pod_class(owner="ReplicaSet/web")


def fake_ebb(*things: Any, **changes: Any) -> FakeEbb:
    """Three nodes with room; a pod of a PDB-guarded Deployment on n1 unless things are given."""
    own = things or (pod("p", on="n1", kind=WEB), pdb("web", app="web"))
    return FakeEbb(node("n1"), node("n2"), node("n3"), *own, **changes)


def holder(ebb: FakeEbb) -> str | None:
    return ebb.cluster.nodes["n1"].drain_taint


def released(**changes: Any) -> Order:
    """A release that does not expire within the test."""
    return order(kind=OrderKind.RELEASE, **{"expires_at": NOW + timedelta(hours=1), **changes})
