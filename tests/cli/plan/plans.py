"""Plans by hand with short defaults, for what only shows them."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import (
    Committed,
    CommittedRow,
    Scenario,
    ScenarioKind,
    Scenarios,
    UsedPart,
)
from functions.cli.analysis.relaxations import Relaxation
from functions.cli.plan.view import AskedNodes
from shared.core.placement.packing import Move
from shared.core.planning.plan import NodeDecision, Plan, PlannedOrder, Verdict
from shared.core.policy.values import Capacity
from shared.core.reasons import Blocker, DrainReason, PodBlock, Unremovable
from shared.core.rules.drain_time import DrainTime
from tests.builders import CLUSTER, NOW, resources
from tests.core.planning import passes

SUM: Final = AskedNodes()
DOLLAR = 10**6
THREE_ROUNDS = DrainTime(timedelta(minutes=1), timedelta(seconds=150), 3, "shop/web", timedelta(minutes=9))


def decision(name: str, verdict: Verdict = Verdict.KEEP, *blockers: Blocker, **changes: Any) -> NodeDecision:
    """A node of pool `a` at half CPU and a quarter of memory; its reason is its first blocker's."""
    given: dict[str, Any] = {
        "reason": blockers[0].reason.value if blockers else "",
        "cpu_ratio": Fraction(1, 2),
        "memory_ratio": Fraction(1, 4),
        "movable_cpu_ratio": Fraction(2, 5),
        "movable_memory_ratio": Fraction(1, 5),
        "score": Fraction(45),
        "cost": DOLLAR // 10,
        "allocatable": resources(cpu=4, memory=16),
        "requested": resources(cpu=2, memory=4),
        **changes,
    }
    return replace(passes.decision(name, verdict), blockers=blockers, **given)


def ordered(name: str, **changes: Any) -> NodeDecision:
    marks = {"marked_since": NOW - timedelta(minutes=9), "removable_at": NOW - timedelta(minutes=4)}
    given = {"reason": "underutilized", "drain": THREE_ROUNDS, **marks, **changes}
    return decision(name, Verdict.WOULD_ORDER, **given)


def waiting(name: str, **changes: Any) -> NodeDecision:
    marks = {"marked_since": NOW - timedelta(minutes=2), "removable_at": NOW + timedelta(minutes=3)}
    return decision(name, Verdict.WAITING, Blocker(Unremovable.MARKED_RECENTLY), **{**marks, **changes})


def in_flight(name: str, **changes: Any) -> NodeDecision:
    return decision(name, Verdict.IN_FLIGHT, **{"reason": "a1b2c3d4e5f6a7b8c9d0", **changes})


def blocked(name: str, *pods: str, by: PodBlock = PodBlock.LOCAL_STORAGE, **changes: Any) -> NodeDecision:
    said = (Blocker(by, pod, "volume cache") for pod in pods)
    return decision(name, Verdict.KEEP, Blocker(Unremovable.BLOCKED_BY_POD, pods[0]), *said, **changes)


def busy(name: str, **changes: Any) -> NodeDecision:
    return decision(name, Verdict.KEEP, Blocker(Unremovable.CPU_ABOVE_LIMIT, "", "81% of 75%"), **changes)


def plan(*decisions: NodeDecision, orders: Iterable[PlannedOrder] = (), **changes: Any) -> Plan:
    given: dict[str, Any] = {
        "cluster": CLUSTER,
        "taken_at": NOW,
        "policy_hash": "",
        "dry_run": True,
        "marks": {},
        "pods": 20 * len(decisions),
        "pending": 0,
        "cost": len(decisions) * DOLLAR // 10,
        **changes,
    }
    return Plan(decisions=decisions, orders=tuple(orders), **given)


def order(name: str, *moves: tuple[str, str], saving: int = DOLLAR // 10) -> PlannedOrder:
    places = tuple(Move(pod, node) for pod, node in moves)
    return PlannedOrder(name, f"uid-{name}", "a", DrainReason.UNDERUTILIZED, saving, places)


def some_scenarios() -> Scenarios:
    """Ten nodes of ten cents an hour: the autoscaler takes two, the policy one more, and each change another one."""

    def step(kind: ScenarioKind, nodes: int, change: Relaxation | None = None) -> Scenario:
        gone = 0 if kind in {ScenarioKind.NOW, ScenarioKind.BOUND} else 10 - nodes
        return Scenario(kind, nodes, nodes * DOLLAR // 10, 5 * gone, gone, change)

    return Scenarios(
        now=step(ScenarioKind.NOW, 10),
        alone=step(ScenarioKind.AUTOSCALER_ALONE, 8),
        at_rest=step(ScenarioKind.POLICY_AT_REST, 7),
        relaxed=(
            step(ScenarioKind.RELAXED, 6, Relaxation(PodBlock.JOB_RUNNING, "a")),
            step(ScenarioKind.RELAXED, 6, Relaxation(PodBlock.PDB_NEVER_ALLOWS, "shop/db")),
        ),
        bound=step(ScenarioKind.BOUND, 4),
        by=NOW + timedelta(minutes=90, seconds=5),
        held_up={Unremovable.TIME_GAP: 1800, Unremovable.NODES_PER_PASS: 900, Unremovable.MARKED_RECENTLY: 300},
        never={Unremovable.OUTSIDE_WINDOWS: 2},
    )


ENDS: Final = datetime(2027, 5, 1, tzinfo=UTC)


def billed(**bills: int) -> Scenarios:
    """The same with bills in cents an hour: of ten nodes eight are committed at half their price."""
    scenarios = some_scenarios()
    cents = {"now": 60, "alone": 40, "at_rest": 40, "bound": 40, **bills}
    relaxed = tuple(replace(step, bill=cents["at_rest"] * DOLLAR // 100) for step in scenarios.relaxed)
    steps = {name: replace(getattr(scenarios, name), bill=bill * DOLLAR // 100) for name, bill in cents.items()}
    return replace(scenarios, relaxed=relaxed, **steps)


def some_committed(**changes: Any) -> Committed:
    """40 vCPUs of n2, of which 10 are idle now and 20 in steady state, and a flexible commitment that is used whole."""
    given: dict[str, Any] = {
        "rows": (
            CommittedRow(
                "n2", Capacity(Fraction(40), Fraction(160)), ENDS, DOLLAR,
                UsedPart(Capacity(Fraction(30), Fraction(120)), DOLLAR // 4),
                UsedPart(Capacity(Fraction(20), Fraction(80)), DOLLAR // 2),
            ),
            CommittedRow("flexible", None, None, DOLLAR, UsedPart(None, 0), UsedPart(None, 0)),
        ),
        "region": "europe-west1",
        **changes,
    }  # fmt: skip
    return Committed(**given)


def of_every_kind() -> Plan:
    return plan(
        ordered("gke-c-a-1f2e-0001"),
        waiting("gke-c-a-1f2e-0002"),
        in_flight("gke-c-a-1f2e-0003"),
        blocked("gke-c-b-3d4c-0004", "shop/cart-0", "shop/cart-1", pool="b"),
        busy("gke-c-b-3d4c-0005", pool="b", cpu_ratio=Fraction(81, 100)),
        decision("gke-c-b-3d4c-0006", Verdict.KEEP, Blocker(Unremovable.NO_ALLOCATABLE), cpu_ratio=None,
                 memory_ratio=None, movable_cpu_ratio=None, movable_memory_ratio=None, score=None, pool="b"),
        orders=[order("gke-c-a-1f2e-0001", ("shop/web-0", "gke-c-a-1f2e-0002"))],
    )  # fmt: skip
