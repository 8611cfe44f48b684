"""What is shown of a fleet, made once: rows, sums, reasons by money over all clusters, and the installations."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.dumps.homes import home_named
from functions.cli.fleet.cluster_reading import PlannedCluster, SourceResult, drop_older_readings
from functions.cli.fleet.installations import InstallationHealth, InstallationResult, Mode
from functions.cli.fleet.sources import is_of
from functions.cli.input.commitments import COUNTED_BY_EACH
from functions.cli.input.options import FleetSort
from functions.cli.output.format import count, group, monthly
from functions.cli.plan import totals
from functions.cli.plan.scenarios import paid_cost
from functions.cli.plan.sentences import HOLDING, LegendEntry
from functions.cli.plan.view import PlanView

NOT_READ: Final = "not read"


@dataclass(frozen=True)
class FleetRow:
    """One cluster: its plan, its installation, and why either could not be read."""

    cluster: str
    source: str
    planned: PlannedCluster | None = None
    installation: InstallationHealth | None = None
    faults: tuple[str, ...] = ()

    @property
    def view(self) -> PlanView | None:
        return self.planned.view if self.planned else None

    @property
    def title(self) -> str:
        """Return the cluster's name as a dump has it, too: `prod europe-west4 my-project`."""
        return str(home_named(self.cluster) or self.cluster)

    @property
    def scenarios(self) -> Scenarios | None:
        return self.view.scenarios.values if self.view and self.view.scenarios else None

    @property
    def saving_of(self) -> int | None:
        """Return what is saved in steady state, in micro-dollars per hour."""
        return paid_cost(self.scenarios.now) - paid_cost(self.scenarios.at_rest) if self.scenarios else None

    @property
    def views(self) -> tuple[PlanView, ...]:
        return (self.view,) if self.view else ()

    @property
    def wrong(self) -> tuple[str, ...]:
        """Return each fault as a sentence: why it was not read, and why its installation fails."""
        return (*self.faults, *(self.installation.faults if self.installation else ()))

    @property
    def state(self) -> str:
        state = self.installation.in_words if self.installation else ""
        return ", ".join(part for part in (state, NOT_READ if self.faults else "") if part)


_SORTED: Final[Mapping[FleetSort, Callable[[FleetRow], Any]]] = {
    FleetSort.NAME: lambda row: row.title,
    FleetSort.COST: lambda row: (-sum(view.plan.cost for view in row.views), row.title),
    FleetSort.SAVED: lambda row: (row.saving_of is None, -(row.saving_of or 0), row.title),
    FleetSort.STATE: lambda row: (
        not row.faults,
        -len(row.installation.troubles if row.installation else ()),
        row.state,
        row.title,
    ),
}


@dataclass(frozen=True, slots=True)
class FleetHold:
    """What one reason holds in all clusters together, and in each, the most expensive first."""

    entry: LegendEntry
    clusters: tuple[tuple[str, LegendEntry], ...]

    @property
    def as_entry(self) -> LegendEntry:
        """Return it as the plan's table of blockers takes it: what it is about are the clusters."""
        about = ((f"{title} ({monthly(entry.cost)})" if entry.cost else title, "") for title, entry in self.clusters)
        return replace(self.entry, about=tuple(about))


@dataclass(frozen=True)
class FleetView:
    rows: tuple[FleetRow, ...]
    holds: tuple[FleetHold, ...]  # By kind, those that hold most money first.
    notes: tuple[str, ...]
    headline: str  # What Ebb adds in all clusters, and how many could not be read; empty if none was to be planned.

    @property
    def views(self) -> tuple[PlanView, ...]:
        return tuple(view for row in self.rows for view in row.views)

    @property
    def legend(self) -> tuple[LegendEntry, ...]:
        return tuple(hold.as_entry for hold in self.holds)

    @property
    def installations(self) -> tuple[InstallationHealth, ...]:
        return tuple(row.installation for row in self.rows if row.installation)

    @property
    def not_read(self) -> int:
        return sum(bool(row.faults) for row in self.rows)

    def counts(self) -> dict[str, int]:
        """Return how many installations there are, and how many each word is true of."""
        modes = Counter(installation.mode for installation in self.installations)
        failing = sum(bool(installation.troubles) for installation in self.installations)
        return {
            "installations": len(self.installations),
            **{mode.value: modes[mode] for mode in Mode},
            "failing": failing,
        }


def view_of(
    results: Iterable[SourceResult], installations: Iterable[InstallationResult], sort: FleetSort = FleetSort.SAVED
) -> FleetView:
    results = tuple(results)
    once, notes = drop_older_readings(results)
    rows = [FleetRow(cluster.view.plan.cluster, cluster.source, cluster) for cluster in once]
    failed = [result for result in results if result.faults]
    rows += [FleetRow(result.source.cluster, result.source.name, faults=result.faults) for result in failed]
    rows = _with_installations(rows, tuple(installations))
    rows = sorted(rows, key=_SORTED[sort])
    return FleetView(tuple(rows), _holds(rows), (*_notes(rows), *notes), _headline(rows))


def _headline(rows: Sequence[FleetRow]) -> str:
    views, missing = [row.view for row in rows if row.view], sum(bool(row.faults) for row in rows)
    short = f"{missing} of {count(len(rows), 'cluster')} could not be read. " if missing else ""
    return f"{short}{totals.whole_headline(views) if views else ''}".strip()


def _with_installations(rows: Sequence[FleetRow], installations: Sequence[InstallationResult]) -> list[FleetRow]:
    """Return the rows with their installations, and a row for each installation that has none."""
    found = list(rows)
    for installed in installations:
        cluster, source = installed.source.cluster, installed.source.name
        homes = (row.planned.home if row.planned else None for row in found)
        own = (at for at, (row, home) in enumerate(zip(found, homes, strict=True)) if is_of(cluster, row.cluster, home))
        place = next(own, None)
        if place is None:
            found.append(FleetRow(cluster or source, source, None, installed.health, installed.faults))
        else:
            row = found[place]
            found[place] = replace(row, installation=installed.health, faults=(*row.faults, *installed.faults))
    return found


def _holds(rows: Sequence[FleetRow]) -> tuple[FleetHold, ...]:
    entries = ((row.title, entry) for row in rows for view in row.views for entry in view.legend)
    by_word = group(((entry.kind, entry.word), (title, entry)) for title, entry in entries if entry.kind in HOLDING)
    return tuple(sorted(map(_hold, by_word.values()), key=_hold_order))


def _hold(own: Sequence[tuple[str, LegendEntry]]) -> FleetHold:
    costliest = sorted(own, key=lambda row: (-row[1].cost, row[0]))
    cost, nodes = (sum(getattr(entry, name) for _, entry in own) for name in ("cost", "nodes"))
    return FleetHold(replace(costliest[0][1], nodes=nodes, cost=cost), tuple(costliest))


def _hold_order(hold: FleetHold) -> tuple[int, int, int, str]:
    return HOLDING.index(hold.entry.kind), -hold.entry.cost, -hold.entry.nodes, hold.entry.word


def _notes(rows: Sequence[FleetRow]) -> tuple[str, ...]:
    """Return each note once, with how many clusters it is true of where that is not all."""
    views = [row.view for row in rows if row.view]
    numbers = Counter(note for view in views for note in dict.fromkeys(view.notes))
    if numbers[COUNTED_BY_EACH] == 1:  # there is no other to share with
        del numbers[COUNTED_BY_EACH]
    return tuple(
        note if number == len(views) else f"{note} ({count(number, 'cluster')})" for note, number in numbers.items()
    )


def rows_to_show(view: FleetView, top: int | None) -> tuple[FleetRow, ...]:
    """Return the first rows as they are sorted, and behind them all that could not be read."""
    if top is None:
        return view.rows
    return (*view.rows[:top], *(row for row in view.rows[top:] if row.faults))
