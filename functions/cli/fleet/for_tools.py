"""The fleet for tools: as JSON, and as OpenMetrics gauges of each plan and each installation.

Keys that a plan's JSON has keep their names; every key is always there.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from functions.cli.fleet.installations import InstallationHealth, Mode, Trouble
from functions.cli.fleet.view import FleetHold, FleetRow, FleetView, rows_to_show
from functions.cli.output.format import dollars, rfc3339
from functions.cli.output.openmetrics import MONEY, Gauge, Samples, exposition, one
from functions.cli.plan import as_json, openmetrics, totals
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
        "holds": [_held(hold) for hold in view.holds],
    }


def _held(hold: FleetHold) -> dict[str, Any]:
    def part(title: str, entry: LegendEntry) -> dict[str, Any]:
        own = as_json.held(entry)
        return {"cluster": title, "nodes": own["nodes"], "cost_per_hour": own["cost_per_hour"]}

    return {**as_json.held(hold.entry), "clusters": [part(*cluster) for cluster in hold.clusters]}


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


def _installed(values: Callable[[InstallationHealth], Samples]) -> Callable[[FleetRow], Samples]:
    return lambda row: values(row.installation) if row.installation else ()


def _troubles(health: InstallationHealth) -> Samples:
    found = {word for word, _ in health.troubles}
    return [((word.value,), float(word in found)) for word in Trouble]


def _planned(gauge: Gauge) -> Gauge:
    return replace(gauge, values=lambda row: gauge.values(row.view) if row.view else ())


GAUGES: Final = (
    Gauge("ebb_fleet_read", "1 if the cluster and its installation could be read, else 0.",
          lambda row: one(not row.faults)),
    Gauge("ebb_installation_dry_run", "1 if the policy in force is a dry run, else 0.",
          _installed(lambda its: one(its.policy.dry_run if its.policy else None))),
    Gauge("ebb_installation_paused", "1 if draining is paused, else 0.",
          _installed(lambda its: one(its.mode is Mode.PAUSED))),
    Gauge("ebb_installation_failing", "1 if a kind of trouble (no_pass, breaker, backoffs, policy) is there, else 0.",
          _installed(_troubles), ("trouble",)),
    Gauge("ebb_installation_last_pass_timestamp", "When the last pass was completed, Unix time.",
          _installed(lambda its: one(its.status.last_pass.timestamp() if its.status.last_pass else None)),
          unit="seconds"),
    Gauge("ebb_installation_claims", "Nodes that are held or on their way to be.",
          _installed(lambda its: one(len(its.status.claims)))),
    Gauge("ebb_installation_backoffs", "Nodes left alone after failed drains.",
          _installed(lambda its: one(len(its.status.backoffs)))),
    Gauge("ebb_installation_open_breakers", "Pools in which no drain starts.",
          _installed(lambda its: one(len(its.status.breakers)))),
    Gauge("ebb_installation_saved_nodes", "Nodes removed within a day that have not come back.",
          _installed(lambda its: one(its.saved_nodes))),
    Gauge("ebb_installation_saved", "What those nodes would cost.",
          _installed(lambda its: one(dollars(its.saved))), unit=MONEY),
    *map(_planned, openmetrics.GAUGES),
)  # fmt: skip


def metrics(view: FleetView) -> str:
    """Return the whole fleet as one text, whatever the table would leave out."""
    return exposition(GAUGES, [(row.title, row) for row in view.rows], openmetrics.currency_of(view.views))
