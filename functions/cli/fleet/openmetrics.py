"""The fleet as OpenMetrics gauges: those of each plan, and how each installation is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from functions.cli.fleet.installations import InstallationHealth, Mode, Trouble
from functions.cli.fleet.view import FleetRow, FleetView
from functions.cli.output.format import dollars
from functions.cli.output.openmetrics import MONEY, Gauge, Samples, exposition, one
from functions.cli.plan import openmetrics as plan


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
    *map(_planned, plan.GAUGES),
)  # fmt: skip


def page(view: FleetView) -> str:
    """Return the whole fleet as one text, whatever the table would leave out."""
    return exposition(GAUGES, [(row.title, row) for row in view.rows], plan.currency_of(view.views))
