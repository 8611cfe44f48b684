"""What a pass waits for where the autoscaler and the scheduler pack in different ways."""

from infra.local.scenario import Scenario, parse
from tests.bench.beside.runs import Rest, autoscaler_alone, reaped, with_ebb
from tests.depth import cases

TOGETHER = """
profile: {profile}
pools:
  - {{name: a, count: 1, zones: [z], autoscaling: {{minNodeCount: 1}}}}
  - {{name: b, count: 1, zones: [z], autoscaling: {{minNodeCount: 1}}}}
  - {{name: c, count: 1, zones: [z], autoscaling: {{minNodeCount: 0}}}}
workloads:
  - {{name: some, replicas: 1, requests: {{cpu: "1", memory: 1Gi}}, nodes: [a/0]}}
  - {{name: more, replicas: 1, requests: {{cpu: 3400m, memory: 1Gi}}, nodes: [b/0]}}
  - {{name: cache, replicas: {count}, requests: {{cpu: 500m, memory: 1Gi}}, nodes: {others}}}
  - name: web
    replicas: 1
    requests: {{cpu: 500m, memory: 1Gi}}
    nodes: [c/0]
    pod:
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - {{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{app: cache}}}}}}
"""
"""On node c `web` asks to lie beside `cache`; a has room for both, b for one of them, and b is the fuller.

The autoscaler tries pods in the order in which they are listed, each once: `cache` first, and then `web` beside it.
"""


def together(profile: str, others: str = "[c/0]") -> Scenario:
    """Return it; `others` are the nodes of those beside which the one must lie."""
    count = len(others.split(","))
    return parse(TOGETHER.format(profile=profile, others=others, count=count))


def evictions_and_waiting(rest: Rest) -> tuple[int, int]:
    assert rest.is_rest
    return rest.evictions, rest.waiting


@cases(
    "expected, profile",
    ("the scheduler packs: the first takes what it lacks", 1, "OPTIMIZE_UTILIZATION"),
    ("the scheduler spreads: both find room", 0, "BALANCED"),
)
def test_the_autoscaler_alone_evicts_a_pod_with_the_only_one_it_may_lie_next_to_and_trusts_its_packing(
    expected: int, profile: str
) -> None:
    assert evictions_and_waiting(autoscaler_alone(together(profile))) == (2, expected)


@cases(
    "expected, others",
    ("nobody knows on which host it will be", 0, "[c/0]"),
    ("another one stays where it is", 2, "[c/0, a/0]"),
)
def test_ebb_moves_no_pod_together_with_the_only_one_it_may_lie_next_to(expected: int, others: str) -> None:
    """The autoscaler takes empty nodes alone here, so that whatever is evicted Ebb evicts."""
    beside_reaper = with_ebb(reaped(together("OPTIMIZE_UTILIZATION", others=others)))
    assert evictions_and_waiting(beside_reaper) == (expected, 0)
