"""The fleet as JSON.

Keys that a plan's JSON has keep their names; every key is always there.
"""

from typing import Any, Final

from functions.cli.fleet.installations import InstallationHealth
from functions.cli.fleet.view import FleetHold, FleetRow, FleetView, rows_to_show
from functions.cli.output.format import dollars, rfc3339
from functions.cli.plan import as_json, totals
from functions.cli.plan.sentences import LegendEntry

SCHEMA: Final = 1
_OF_ONE_PLAN: Final = ("schema", "cluster", "nodes", "orders", "at_rest", "wave", "potential")
_LISTS: Final = ("ladder", "commitments", "later", "pools", "holds")
_OTHERS: Final = ("taken_at", "policy_hash", "dry_run", "partial", "prices", "totals")


def document(view: FleetView, top: int | None = None) -> dict[str, Any]:
    """Return the fleet as JSON values; `top` chooses among `clusters` alone."""
    plans = [as_json.document(plan) for plan in view.views]
    summed = totals.sums(plans, view.views)
    return {
        "schema": SCHEMA,
        "clusters": [_row(row) for row in rows_to_show(view, top)],
        "ladder": summed["ladder"],
        "totals": {**summed["totals"], "not_read": view.not_read, **view.counts()},
        "holds": [_hold_document(hold) for hold in view.holds],
    }


def _hold_document(hold: FleetHold) -> dict[str, Any]:
    def part(title: str, entry: LegendEntry) -> dict[str, Any]:
        own = as_json.held_document(entry)
        return {"cluster": title, "nodes": own["nodes"], "cost_per_hour": own["cost_per_hour"]}

    return {**as_json.held_document(hold.entry), "clusters": [part(*cluster) for cluster in hold.clusters]}


def _row(row: FleetRow) -> dict[str, Any]:
    plan: dict[str, Any] = {**dict.fromkeys(_OTHERS), **{name: [] for name in _LISTS}}
    if row.view:
        plan = {name: value for name, value in as_json.document(row.view).items() if name not in _OF_ONE_PLAN}
    return {
        "cluster": row.cluster,
        "source": row.source,
        "faults": list(row.faults),
        **plan,
        "installation": None if row.installation is None else _installation(row.installation),
    }


def _installation(health: InstallationHealth) -> dict[str, Any]:
    status = health.status
    return {
        "name": health.name,
        "cluster": health.cluster,
        "mode": health.mode and health.mode.value,
        "failing": health.is_failing,
        "troubles": [{"trouble": word.value, "sentence": sentence} for word, sentence in health.troubles],
        "pause_reason": health.paused_for or None,
        "last_pass": rfc3339(status.last_pass) if status.last_pass else None,
        "claims": len(status.claims),
        "backoffs": len(status.backoffs),
        "breakers": len(status.breakers),
        "saved_nodes": health.saved_nodes,
        "saved_per_hour": float(round(dollars(health.saved), 4)),
    }
