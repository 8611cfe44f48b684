"""The fleet as JSON and as OpenMetrics. Keys that a plan's JSON has keep their names; every key is always there."""

from collections.abc import Iterator
from typing import Any, Final

from functions.cli.fleet.installations import InstallationHealth, Mode, Trouble
from functions.cli.fleet.view import FleetHold, FleetRow, FleetView, shown_rows
from functions.cli.output.documents import MONEY, MetricFamily, Sample, distinct, exposition
from functions.cli.output.format import dollars, rfc3339
from functions.cli.plan import as_json, compute
from functions.cli.plan import as_json as plan
from functions.cli.plan.sentences import LegendEntry

SCHEMA: Final = 1
_OF_ONE_PLAN: Final = ("schema", "cluster", "nodes", "orders", "at_rest", "potential")
_LISTS: Final = ("ladder", "pools", "holds")
_OTHERS: Final = ("taken_at", "policy_hash", "dry_run", "partial", "prices", "totals")


def document(view: FleetView, top: int | None = None) -> dict[str, Any]:
    """Return the fleet as JSON values; `top` chooses among `clusters` alone."""
    plans = [as_json.document(each) for each in view.views]
    summed = compute.sums(plans, view.views)
    return {
        "schema": SCHEMA,
        "clusters": [_row(row) for row in shown_rows(view, top)],
        "ladder": summed["ladder"],
        "totals": {**summed["totals"], "not_read": view.not_read, **view.counts()},
        "holds": [_held(each) for each in view.holds],
    }


def _held(hold: FleetHold) -> dict[str, Any]:
    def part(title: str, entry: LegendEntry) -> dict[str, Any]:
        own = as_json.held(entry)
        return {"cluster": title, "nodes": own["nodes"], "cost_per_hour": own["cost_per_hour"]}

    return {**as_json.held(hold.entry), "clusters": [part(*each) for each in hold.clusters]}


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


_OF_CLUSTER: Final = ("cluster",)
READ: Final = MetricFamily(
    "ebb_fleet_read", "1 if the cluster and its installation could be read, else 0.", _OF_CLUSTER
)
DRY_RUN: Final = MetricFamily("ebb_installation_dry_run", "1 if the policy in force is a dry run, else 0.", _OF_CLUSTER)
PAUSED: Final = MetricFamily("ebb_installation_paused", "1 if draining is paused, else 0.", _OF_CLUSTER)
FAILING: Final = MetricFamily(
    "ebb_installation_failing", "1 if a kind of trouble (no_pass, breaker, backoffs, policy) is there, else 0.",
    ("cluster", "trouble"),
)  # fmt: skip
LAST_PASS: Final = MetricFamily(
    "ebb_installation_last_pass_timestamp", "When the last pass was completed, Unix time.", _OF_CLUSTER, "seconds"
)
CLAIMS: Final = MetricFamily("ebb_installation_claims", "Nodes that are held or on their way to be.", _OF_CLUSTER)
BACKOFFS: Final = MetricFamily("ebb_installation_backoffs", "Nodes left alone after failed drains.", _OF_CLUSTER)
BREAKERS: Final = MetricFamily("ebb_installation_open_breakers", "Pools in which no drain starts.", _OF_CLUSTER)
SAVED_NODES: Final = MetricFamily(
    "ebb_installation_saved_nodes", "Nodes removed within a day that have not come back.", _OF_CLUSTER
)
SAVED: Final = MetricFamily("ebb_installation_saved", "What those nodes would cost.", _OF_CLUSTER, MONEY)
OWN: Final = (READ, DRY_RUN, PAUSED, FAILING, LAST_PASS, CLAIMS, BACKOFFS, BREAKERS, SAVED_NODES, SAVED)
FAMILIES: Final = (*OWN, *plan.FAMILIES)


def page(view: FleetView) -> str:
    """Return the whole fleet as one text, whatever the table would leave out."""
    names = distinct([row.title for row in view.rows])
    samples = (each for name, row in zip(names, view.rows, strict=True) for each in _samples(name, row))
    return exposition(samples, FAMILIES, plan.currency_of(view.views))


def _samples(cluster: str, row: FleetRow) -> Iterator[Sample]:
    yield Sample(READ, (cluster,), float(not row.faults))
    if row.installation:
        yield from _installation_metrics((cluster,), row.installation)
    if row.view:
        yield from plan.samples(cluster, row.view)


def _installation_metrics(labels: tuple[str, ...], health: InstallationHealth) -> Iterator[Sample]:
    status = health.status
    if health.policy is not None:
        yield Sample(DRY_RUN, labels, float(health.policy.dry_run))
    yield Sample(PAUSED, labels, float(health.mode is Mode.PAUSED))
    found = {word for word, _ in health.troubles}
    for word in Trouble:
        yield Sample(FAILING, (*labels, word.value), float(word in found))
    if status.last_pass:
        yield Sample(LAST_PASS, labels, plan.unix(status.last_pass))
    yield Sample(CLAIMS, labels, len(status.claims))
    yield Sample(BACKOFFS, labels, len(status.backoffs))
    yield Sample(BREAKERS, labels, len(status.breakers))
    yield Sample(SAVED_NODES, labels, health.saved_nodes)
    yield Sample(SAVED, labels, dollars(health.saved))
