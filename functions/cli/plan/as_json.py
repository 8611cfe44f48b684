"""The plan as JSON (docs/orders.md, plan JSON): an outside contract."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.blocked import BlockedBy
from functions.cli.analysis.forecast.scenarios import CommittedRow, LaterAddition, UsedPart
from functions.cli.analysis.pools import PoolSummary
from functions.cli.input.pricing import PricedNodes
from functions.cli.output.format import json_dollars, rfc3339
from functions.cli.plan.scenarios import scenario_documents
from functions.cli.plan.sentences import HOLDING, LegendEntry
from functions.cli.plan.view import EVERY_NODE, AskedNodes, NodeView, PlanView
from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.placement.packing import Move
from shared.core.planning.plan import AtRest, PlannedOrder, Potential, Verdict
from shared.core.planning.prices import Prices
from shared.core.policy.values import Capacity
from shared.core.reasons import Blocker
from shared.core.rules.drain_time import DrainTime

SCHEMA: Final = 1


def document(view: PlanView, request: AskedNodes = EVERY_NODE) -> dict[str, Any]:
    """Return the plan as JSON; what was asked for chooses among `nodes` alone."""
    return {
        "schema": SCHEMA,
        "cluster": view.plan.cluster or None,
        "taken_at": rfc3339(view.plan.taken_at),
        "policy_hash": view.plan.policy_hash or None,
        "dry_run": view.plan.dry_run,
        "partial": view.partial or None,
        "prices": None if view.prices is None else _prices(view.prices, view.priced),
        "ladder": [] if view.scenarios is None else scenario_documents(view.scenarios.values),
        "commitments": [] if view.committed is None else [_commitment(row) for row in view.committed.rows],
        "later": [] if view.committed is None else [_later(addition) for addition in view.committed.later],
        "totals": view.totals,
        "pools": [_pool(pool, view) for pool in view.pools],
        "holds": [held_document(entry) for entry in view.legend if entry.kind in HOLDING],
        "kept_by": view.blocked and blocked_document(view.blocked),
        "nodes": [node(shown) for shown in request.choose(view.nodes)[: request.top]],
        "orders": [_order(order) for order in view.plan.orders],
        "at_rest": view.plan.at_rest and _at_rest(view.plan.at_rest),
        "wave": list(view.plan.wave),
        "costly": list(view.plan.costly),
        "potential": view.potential and _potential(view.potential),
    }


def _prices(prices: Prices, nodes: PricedNodes | None) -> dict[str, Any]:
    return {
        "source": prices.basis.source or None,
        "as_of": prices.basis.as_of or None,
        "region": prices.basis.region or None,
        "currency": prices.basis.currency,
        "regions": [
            {"region": name or None, "share": None if share is None else float(share)}
            for name, share in (nodes.regions.items() if nodes else ())
        ],
        "spot": nodes is not None and nodes.spot,
        "discounts": [
            {"family": name or None, "share": float(share)} for name, share in sorted(prices.discounts.items())
        ],
    }


def _commitment(row: CommittedRow) -> dict[str, Any]:
    return {
        "family": row.family,
        "vcpu": _amount(row.size, "vcpu"),
        "gib": _amount(row.size, "gib"),
        "until": rfc3339(row.until),
        "fee_per_hour": json_dollars(row.fee),
        **_usage_document(row.now, ""),
        **_usage_document(row.at_rest, "_at_rest"),
    }


def _usage_document(part: UsedPart | None, when: str) -> dict[str, Any]:
    used = part.used if part else None
    return {
        f"used_vcpu{when}": _amount(used, "vcpu"),
        f"used_gib{when}": _amount(used, "gib"),
        f"idle{when}_per_hour": None if part is None else json_dollars(part.idle),
    }


def _amount(capacity: Capacity | None, name: str) -> float | None:
    return None if capacity is None else float(getattr(capacity, name))


def _later(addition: LaterAddition) -> dict[str, Any]:
    return {
        "at": rfc3339(addition.at),
        "families": list(addition.families),
        "nodes": addition.nodes,
        "added_per_hour": json_dollars(addition.added),
        "is_rest": addition.is_rest,
    }


def node(shown: NodeView) -> dict[str, Any]:
    decision = shown.decision
    return {
        "name": shown.name,
        "pool": decision.pool or None,
        "verdict": decision.verdict.value,
        "reason": decision.reason or None,
        "blockers": [blocker(found) for found in decision.blockers],
        "cost_per_hour": json_dollars(decision.cost),
        "cpu_ratio": _ratio(decision.cpu_ratio),
        "memory_ratio": _ratio(decision.memory_ratio),
        "movable_cpu_ratio": _ratio(decision.movable_cpu_ratio),
        "movable_memory_ratio": _ratio(decision.movable_memory_ratio),
        "accelerator_ratio": _ratio(decision.accelerator_ratio),
        "score": _ratio(decision.score),
        "marked_since": rfc3339(decision.marked_since),
        "removable_at": rfc3339(decision.removable_at),
        "drain": None if decision.drain is None else drain(decision.drain),
        "removed_by": shown.removed_by.value if shown.removed_by else None,
    }


def _pool(pool: PoolSummary, view: PlanView) -> dict[str, Any]:
    at_rest = view.scenarios is not None
    return {
        "name": pool.pool or None,
        "nodes": pool.nodes,
        "cpu_ratio": _ratio(pool.cpu_ratio),
        "memory_ratio": _ratio(pool.memory_ratio),
        "cost_per_hour": json_dollars(pool.cost),
        "verdicts": {verdict.value: pool.verdicts.get(verdict, 0) for verdict in Verdict},
        "saving_per_hour": json_dollars(pool.saving),
        "gone_at_rest": pool.rest_go if at_rest else None,
        "saving_at_rest_per_hour": json_dollars(pool.rest_save) if at_rest else None,
        "autoscaler": _autoscaler(view.autoscaler.get(pool.pool or "")),
    }


def _autoscaler(rule: ScaleDownRule | None) -> dict[str, Any] | None:
    if rule is None:
        return None
    return {
        "threshold": float(rule.gate),
        "threshold_by": rule.gate_by.value,
        "delay_seconds": round(rule.unneeded.total_seconds()),
        "delay_by": rule.unneeded_by.value,
        "compute_class": rule.compute_class or None,
        "only_empty": rule.only_empty if rule.class_known else None,
    }


def held_document(entry: LegendEntry) -> dict[str, Any]:
    return {
        "reason": entry.word,
        "of": entry.kind.value,
        "nodes": entry.nodes,
        "cost_per_hour": json_dollars(entry.cost),
    }


def blocked_document(blocked: BlockedBy) -> dict[str, Any]:
    return {
        "by": blocked.by,
        "nodes": blocked.nodes,
        "cost_per_hour": json_dollars(blocked.cost),
        "rows": [
            {
                "owner": row.owner or None,
                "reason": row.reason,
                "nodes": row.nodes,
                "cost_per_hour": json_dollars(row.cost),
                "also_keeps": row.also,
                "remedy": row.remedy or None,
            }
            for row in blocked.rows
        ],
    }


def drain(takes: DrainTime) -> dict[str, Any]:
    return {
        "rounds": takes.rounds,
        "limit": takes.limit or None,
        "least_seconds": round(takes.least.total_seconds()),
        "most_seconds": round(takes.most.total_seconds()),
        "deadline_seconds": round(takes.deadline.total_seconds()),
    }


def blocker(found: Blocker) -> dict[str, Any]:
    return {
        "reason": found.reason.value,
        "object": found.object or None,
        "detail": found.detail or None,
        "message_id": found.reason.message_id or None,
    }


def _order(order: PlannedOrder) -> dict[str, Any]:
    return {
        "node": order.node,
        "reason": order.reason.value,
        "saving_per_hour": json_dollars(order.saving),
        "moves": _moves(order.moves),
    }


def _at_rest(found: AtRest) -> dict[str, Any]:
    return {
        "nodes": list(found.nodes),
        "saving_per_hour": json_dollars(found.saving),
        "steps": found.steps,
        "braked": found.braked,
    }


def _potential(potential: Potential) -> dict[str, Any]:
    return {
        "nodes": list(potential.nodes),
        "saving_per_hour": json_dollars(potential.saving),
        "moves": _moves(potential.moves),
    }


def _moves(moves: Iterable[Move]) -> list[dict[str, str]]:
    return [{"pod": move.pod, "to": move.node} for move in moves]


def _ratio(ratio: Fraction | None) -> float | None:
    return None if ratio is None else float(ratio)
