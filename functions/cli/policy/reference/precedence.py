"""Which setting decides when several speak: the precedence in words, the gates in the order of their asking.

estafette, node-refiner and Karpenter answer this differently; here it is settled once (docs/policy.md). The order
of the gates is read from `gates`, so that the page cannot differ from the code. Must not decide anything.
"""

from collections.abc import Iterator
from typing import Final

from shared.core.policy.fields import POOL_FIELDS
from shared.core.rules.gates import CLAIM_GATES, PASS_GATES

ASKS: Final = {
    "paused": ("paused", "`paused`, and the flag of `ebb pause`"),
    "frozen": ("frozen", "`cluster.freezes`"),
    "outside_windows": ("outside_windows", "`disruption.windows` of the pool"),
    "breaker_open": ("breaker_open", "nothing of the policy: recent drains that went wrong"),
    "backing_off": ("backing_off", "`drain.backoff`"),
    "pool_at_minimum": ("pool_at_minimum", "nothing of the policy: the pool's autoscaling minimum, by zone and in all"),
    "resource_minimum": ("resource_minimum", "nothing of the policy: the minimums of node auto-provisioning"),
    "minimum_nodes": ("minimum_nodes", "`cluster.minimumNodes`, after the removal"),
    "minimum_non_tainted": ("minimum_non_tainted_nodes", "`cluster.minimumNonTaintedNodes`, after the removal"),
    "budget": ("budget", "`disruption.budgets` of the pool"),
    "cluster_budget": ("cluster_budget", "`cluster.disruption.budgets`"),
    "rate": ("rate", "`cluster.rate`, then `rate` of the pool"),
    "namespace_rate": ("namespace_rate", "`cluster.evictionsPerNamespace`, for each namespace of the node's pods"),
    "recent_addition": ("recent_addition", "`timeSinceLastAddition` of the pool, else the cluster's"),
    "time_gap": ("time_gap", "`cluster.timeGap`"),
    "required_count": ("too_few_underutilized", "`scaleDownRequiredUnderutilizedNodeCount` plus drains in flight"),
    "no_excess": ("no_excess", "`excessNodesThreshold`"),
    "nodes_per_pass": ("nodes_per_pass", "`maxNodesPerPass`"),
}
"""By gate: the word that a verdict says, and what is asked."""
_HEAD: Final = "| | word | asks | asked by |\n|---|---|---|---|\n"

AGE: Final = POOL_FIELDS["consolidate_after"].default

BEFORE: Final = f"""\
**The most restrictive wins.** Every setting can only hold a node back; none opens what another keeps shut. Where
several limits are in force, the smallest counts: of all active budgets of the pool, of the cluster's, of both rates,
of `maxNodesPerPass`. The order below only says which of the reasons is named first; all of them are shown.

1. **The document.** Invalid or missing: nothing is ordered, marks stay as they are, healing goes on, running drains
   end with the settings in their claims. `dryRun: true`: the same verdicts, nothing is drained.
2. **The node** (`enabled`, `ignoreTaints`, `minimumNodeAge`) and its pods (`localStorage`, `longGrace`,
   `kubeSystemPods`, `jobs`, `singleReplicas`, `unprotected`, `minimumPodAge`; `WhenEmpty`), and what the node saves for
   each of them (`minimumSavingPerEviction`).
3. **How full it is**: requests strictly below both ratio limits. estafette's limit decides which nodes may go,
   node-refiner's score (0.8 of CPU, 0.2 of memory) only which of them goes first where `cluster.prefer` says nothing,
   and the proof of placement has the last word.
4. **The mark**: there is one, and one age it needs: `consolidateAfter` of the pool or of `defaults`, else {AGE}. Passes
   come minutes apart, so that a shorter age means the next pass.
5. **The gates**, in this order. A claim asks its gates again at the moment of the grant, on fresh counts.
"""
AFTER: Final = """\
6. **The turns of its pods** under PodDisruptionBudgets: what could not end within `drain.timeout` is not begun.
7. **The proof of placement**, with `headroom`: all pods of all nodes that leave must have a place together.

What estafette, node-refiner and Karpenter answer differently, or not at all, settled:

- *`nodePools.NAME` over `defaults`*: a pool's own field wins; mappings are merged field by field, lists as a whole.
- *Pool over cluster*: only `timeSinceLastAddition` of a pool takes the place of the cluster's. Budgets and rates of
  pool and cluster hold both.
- *Empty and expired nodes* skip the ratio limits, the required count and the excess; an expired one also its mark,
  `Never` of `consolidateAfter` and `WhenEmpty`. Budgets, windows, minimums and the proof of placement hold for them.
- *Budgets* limit how many are in disruption at once, a *rate* how many start in a time, *timeGap* how close together
  passes drain (the orders of one pass are one drain for it), *maxNodesPerPass* how many one pass takes. All hold
  together.
- *Percentages* round up: 10 % of a pool of three is one node. `minimumNodes` is the floor.
- *No active budget* is no limit, as in Karpenter, and is warned about; *windows* are what "only at night" asks for.
- *`singleReplicas` and a Deployment's annotation `ebb.internal/surge`*: `never` keeps single replicas whatever the
  annotation says. `surge` moves them without a gap or not at all: `"false"` keeps the pod. Under `move` and `avoid`
  `"true"` asks for the same, and `"false"` changes nothing. Another value makes no gap either: the pod stays. What
  holds for a single replica holds for the pods of a Deployment that a PodDisruptionBudget never lets go, too.
- *Minimums* count what is left after the removal.
- *DaemonSet and mirror pods* go with their node whatever their annotations say, as for the autoscaler: a
  `safe-to-evict: "false"` on one keeps no node. (With estafette it did.)
- *Passes* come exactly one interval apart, at an offset of each cluster's own; estafette's came 300 s ± 25 % apart.
- *In use* are claims, nodes with Ebb's taint and NotReady nodes of the pool; a person's cordon is not.
- *A person's drain* skips ratio limits, marks, required count, excess, gap and recent addition, and what it names in
  `ignore` as far as `manual.mayIgnore` allows; every active budget binds it, whatever the budget's reasons.
- *A running drain* ends as it was begun; only `paused`, `dryRun: true` and `enabled: false` give it back.
- *`steerScaleIn`* only says which pods a scale-in takes first; no node goes by it or stays.
- *Dry run* holds when the policy or the order says so: an order cannot lift the policy's.
"""


def precedence() -> str:
    """Return the whole section in Markdown."""
    return f"{BEFORE}\n{_HEAD}" + "\n".join(_gates()) + f"\n\n{AFTER}"


def _gates() -> Iterator[str]:
    for number, gate in enumerate((*CLAIM_GATES, *PASS_GATES), start=1):
        word, asks = ASKS[gate.__name__]
        who = "pass and claim" if gate in CLAIM_GATES else "pass"
        yield f"| {number} | `{word}` | {asks} | {who} |"
