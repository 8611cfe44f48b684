"""The fleet as OpenMetrics: each plan's own figures, whether each cluster was read, and how each installation is.

Must not decide anything.
"""

from collections.abc import Iterator
from typing import Final

from functions.cli.fleet.installations import InstallationHealth, Mode, Trouble
from functions.cli.fleet.view import FleetRow, FleetView
from functions.cli.format import dollars
from functions.cli.openmetrics import MONEY, MetricFamily, Sample, distinct, exposition
from functions.cli.plan import openmetrics as plan

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
        yield from _installation((cluster,), row.installation)
    if row.view:
        yield from plan.samples(cluster, row.view)


def _installation(labels: tuple[str, ...], health: InstallationHealth) -> Iterator[Sample]:
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
