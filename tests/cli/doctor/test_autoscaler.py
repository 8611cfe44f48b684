"""What `ebb doctor` says of the autoscaler beside Ebb: where it reaps or competes, and what costs money there."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

from functions.cli.doctor.checks import autoscaler
from functions.cli.doctor.installation import Grade, InstallationParts
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses
from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.cluster.node import NodePool
from shared.core.policy import Policy
from shared.errors import BadPolicy, EbbError
from tests.builders import node, policy
from tests.cli.doctor.test_doctor import parts
from tests.depth import cases
from tests.fakes import FakeCluster, FakePools

ZERO, MINUTE = Fraction(0), timedelta(minutes=1)
REAPER = AutoscalingPolicy(threshold=ZERO, delay=MINUTE)
EMPTY_ONLY = "docs/empty-nodes.md shows how to let it delete only empty ones."
HOW = f"and competes with Ebb; {EMPTY_ONLY}"
ALSO = "the autoscaler also empties nodes that are used up to"
PACKS = "profile OPTIMIZE_UTILIZATION"
CHECK = "not yet seen on a real GKE, so check it once: docs/empty-nodes.md, five minutes."


def found(
    said: AutoscalingPolicy | None = None,
    *,
    name: str = "web",
    pool: NodePool | None = None,
    rules: Policy | EbbError | None = None,
    profile: str = "BALANCED",
) -> list[tuple[Grade, str, str]]:
    labels = {COMPUTE_CLASS_LABEL: name} if said else {}
    cluster = FakeCluster(node("n1", labels=labels), node("n2", labels=labels))
    cluster.classes = ComputeClasses({"web": said} if said else {})
    pools = FakePools({"a": pool or NodePool("a")})
    pools.profile = profile
    given: InstallationParts = replace(parts(pools=pools, rules=rules), cluster=lambda: cluster)
    return [(one.grade, one.sentence, one.remedy) for one in autoscaler(given)]


@cases(
    "sentence, given",
    ("it competes by its profile",
     f"{ALSO} 50% (profile BALANCED) without DaemonSets, after 10m (profile BALANCED), {HOW}", {}),
    ("it packs by itself",
     f"{ALSO} 85% ({PACKS}) without DaemonSets, after 1m ({PACKS}), and Ebb leaves them to it; {EMPTY_ONLY}",
     {"profile": "OPTIMIZE_UTILIZATION"}),
    ("by its class and its pool", f"{ALSO} 20% (ComputeClass web) without DaemonSets, after 5m (the pool), {HOW}",
     {"said": AutoscalingPolicy(threshold=Fraction(1, 5)), "pool": NodePool("a", consolidation_delay=5 * MINUTE)}),
    ("it reaps", f"the autoscaler only deletes empty nodes, after 1m (ComputeClass web); {CHECK}", {"said": REAPER}),
)  # fmt: skip
def test_it_is_shown_how_the_nodes_of_a_pool_go_and_by_whose_word(sentence: str, given: dict[str, Any]) -> None:
    assert found(**given) == [(Grade.OK, f"Pool a: {sentence}", "")]


@cases(
    "sentence, remedy, given",
    ("a reaper that waits an hour", "after 1h (ComputeClass web)", "shorten consolidationDelayMinutes, to a minute.",
     {"said": replace(REAPER, delay=60 * MINUTE)}),
    ("a pool that does", "after 1h (the pool)", "shorten the pool's consolidation delay, to a minute.",
     {"pool": NodePool("a", consolidation_delay=60 * MINUTE)}),
    ("the pool of a class that shows nothing of it", "after 1h (the pool)",
     "shorten the pool's consolidation delay, to a minute.",
     {"said": AutoscalingPolicy(threshold=ZERO), "pool": NodePool("a", consolidation_delay=60 * MINUTE)}),
    ("a class that is not there", "ComputeClass gone is not there or may not be listed",
     "Make the class, or let this identity", {"said": REAPER, "name": "gone"}),
    ("a value that does not count", "ComputeClass web: it is odd.", "Correct its spec.autoscalingPolicy.",
     {"said": AutoscalingPolicy(faults=("it is odd.",))}),
    ("nobody empties: a dry run", "the policy is a dry run: nothing scales down",
     "consolidationThreshold out of ComputeClass web.",
     {"said": REAPER, "rules": policy(cluster_wide={"dry_run": True})}),
    ("or a pause", "the policy is paused", "take consolidationThreshold out",
     {"said": REAPER, "rules": policy(cluster_wide={"paused": True})}),
    ("or a pool that is not enabled", "the policy does not enable it", "take consolidationThreshold out",
     {"said": REAPER, "rules": policy("b")}),
)  # fmt: skip
def test_what_costs_money_is_a_warning_with_a_remedy(sentence: str, remedy: str, given: dict[str, Any]) -> None:
    (warned,) = [row for row in found(**given) if row[0] is Grade.WARN]
    assert sentence in warned[1]
    assert remedy in warned[2]


@cases(
    "given",
    ("a dry run where the autoscaler competes", {"rules": policy(cluster_wide={"dry_run": True})}),
    ("a policy that cannot be read is shown elsewhere", {"said": REAPER, "rules": BadPolicy("odd.")}),
)
def test_nothing_is_wrong(given: dict[str, Any]) -> None:
    assert [row[0] for row in found(**given)] == [Grade.OK]


def test_pools_that_go_alike_are_shown_together_and_none_that_is_not_autoscaled() -> None:
    assert found(pool=NodePool("a", autoscaled=False)) == [(Grade.OK, "No pool with nodes is autoscaled now.", "")]
    pools = FakePools({name: NodePool(name) for name in "ab"})
    cluster = FakeCluster(node("n1"), node("n2", pool="b"))
    (told,) = autoscaler(replace(parts(pools=pools), cluster=lambda: cluster))
    assert told.sentence.startswith("Pools a, b: ")
