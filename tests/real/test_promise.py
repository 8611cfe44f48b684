"""An eviction that broke a PodDisruptionBudget is found in a real server's record, which counts nothing itself."""

from tests.depth import cases
from tests.local.demo.test_promise import THREE, Entry, evicted, evidence, pod
from tests.real.promise import broken_budgets

GUARD: Entry = {
    "metadata": {"namespace": "shop", "name": "api"},
    "spec": {"selector": {"matchLabels": {"app": "api"}}},
    "status": {"desiredHealthy": 2},
}
TOO_FEW = "its eviction left 1 healthy pods, PDB api requires 2"
UNREADY = pod("c", ready=False)


@cases(
    "found, entries",
    ("the last evicted pod is still on its way out", [f"shop/b: {TOO_FEW}"],
     [*THREE, evicted("a"), pod("a", actor="ebb", terminating=True), evicted("b")]),
    ("a pod is not ready", [f"shop/a: {TOO_FEW}"], [*THREE, UNREADY, evicted("a")]),
    ("it cannot be judged", ["shop/ghost: evicted, but the record knows no such pod"], [*THREE, evicted("ghost")]),
    ("enough stay", [], [*THREE, evicted("a")]),
    ("pods of other namespaces and labels do not count", [f"shop/a: {TOO_FEW}"],
     [*THREE[:2], pod("d", namespace="other"), pod("e", labels={"app": "web"}), evicted("a")]),
    ("somebody else asked for it", [], [*THREE, UNREADY, evicted("a", actor="somebody")]),
    ("the pod was not healthy anyway", [], [*THREE, UNREADY, evicted("c")]),
)  # fmt: skip
def test_an_eviction_is_judged_by_the_pods_that_it_left(found: list[str], entries: list[Entry]) -> None:
    assert list(broken_budgets(evidence(*entries), [GUARD])) == found
