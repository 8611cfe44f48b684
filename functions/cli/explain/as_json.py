"""`ebb explain --output json`: every key is always there, null where there is nothing (docs/orders.md)."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from functions.cli.analysis.exclusions import NodeChoice
from functions.cli.analysis.explanation import Explainer, NodeExplanation, NodeWorth, PodPlace
from functions.cli.analysis.openings import Closed
from functions.cli.explain.resolve import Meant, PodRow, kept_alone, rows_of
from functions.cli.output.format import json_dollars, rfc3339
from functions.cli.plan import as_json as plan_json
from functions.cli.plan.view import PlanView
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import Resources
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.reasons import Blocker

SCHEMA: Final = 1


def document(view: PlanView, explained: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "cluster": view.plan.cluster or None,
        "taken_at": rfc3339(view.plan.taken_at),
        "policy_hash": view.plan.policy_hash or None,
        "partial": view.partial or None,
        "explained": list(explained),
    }


def explain_one(view: PlanView, explainer: Explainer, what: Meant) -> dict[str, Any]:
    rows = rows_of(explainer, what.pods)
    if what.workload:
        return _workload(view, what.workload, rows)
    return _pod(view, *rows[0]) if rows else _node(view, explainer.node(what.node))


def _node(view: PlanView, known: NodeExplanation) -> dict[str, Any]:
    return {
        "kind": "node",
        **plan_json.node(view.node(known.decision.name)),
        "blockers": [_blocker(blocker) for blocker in known.decision.blockers],
        "machine": known.node.machine or None,
        "zone": known.node.zone or None,
        "spot": known.node.spot,
        **_worth(known.worth),
        "drain": plan_json.drain(known.takes) if known.takes.rounds else None,
        "closed": [_closed_gate(gate) for gate in known.closed],
        "pods": [{"pod": place.pod.key, **_place(place)} for place in known.pods],
        "staying_pods": known.staying,
        "refusal": known.refusal or None,
    }


def _worth(worth: NodeWorth | None) -> dict[str, Any]:
    return {
        "saves_per_hour": json_dollars(worth.saves) if worth else None,
        "covered_by": list(worth.covered_by) if worth else [],
        "saves_more_from": rfc3339(worth.saves_from) if worth else None,
    }


def _pod(view: PlanView, pod: Pod, node: NodeExplanation, place: PodPlace | None) -> dict[str, Any]:
    return {
        "kind": "pod",
        "name": pod.key,
        **_where(view, pod, node),
        "workload": pod.spec.workload or None,
        "requests": _amounts(pod.requests),
        "needs_elsewhere": _amounts(pod.spec.requests),
        "raised_by": list(pod.spec.raised_by),
        "template_adds": list(pod.spec.template_adds),
        "stays_with_node": place is None,
        **_place(place),
        "budgets": [_budget(budget) for budget in place.budgets] if place else [],
        "choice": _choice(place.landing.choice) if place and not place.landing.fixed else None,
    }


def _workload(view: PlanView, name: str, rows: Sequence[PodRow]) -> dict[str, Any]:
    alone = kept_alone(rows)
    return {
        "kind": "workload",
        "name": name,
        "keeps_alone": {"nodes": sorted(alone), "cost_per_hour": json_dollars(sum(alone.values()))},
        "pods": [{"pod": pod.key, **_where(view, pod, node), **_place(place)} for pod, node, place in rows],
    }


def _where(view: PlanView, pod: Pod, node: NodeExplanation) -> dict[str, Any]:
    decision = view.node(node.decision.name).decision
    return {"node": pod.node, "verdict": decision.verdict.value, "reason": decision.reason or None}


def _place(place: PodPlace | None) -> dict[str, Any]:
    """Return where a pod goes, in the keys that every pod has; with `not_modelled` its place is unknown."""
    if place is None:
        return {"to": None, "runner_up": None, "not_modelled": [], "blockers": [], "restarts": None}
    landing = place.landing
    return {
        "to": landing.node or None,
        "runner_up": landing.runner_up or None,
        "not_modelled": [finding.reason.value for finding in landing.fixed],
        "blockers": [_blocker(blocker) for blocker in place.blockers],
        "restarts": place.restarts or None,
    }


def _blocker(blocker: Blocker) -> dict[str, Any]:
    reason = blocker.reason
    return {**plan_json.blocker(blocker), "sentence": reason.sentence, "remedy": reason.remedy or None}


def _closed_gate(gate: Closed) -> dict[str, Any]:
    return {**_blocker(gate.blocker), "which": gate.which or None, "until": rfc3339(gate.until)}


def _budget(budget: PodDisruptionBudget) -> dict[str, Any]:
    return {
        "name": budget.key,
        "disruptions_allowed": budget.disruptions_allowed,
        "current_healthy": budget.current_healthy,
        "expected_pods": budget.expected_pods,
    }


def _choice(choice: NodeChoice) -> dict[str, Any]:
    return {
        "nodes": choice.nodes,
        "open": list(choice.where.names),
        "excluded": [
            {
                "rule": excluded.rule.value,
                "detail": excluded.detail or None,
                "nodes": list(excluded.where.names),
                "alone": list(excluded.where_alone.names),
            }
            for excluded in choice.excluded
        ],
    }


def _amounts(amounts: Resources) -> dict[str, int]:
    return {"cpu_millis": amounts.cpu, "memory_bytes": amounts.memory}
