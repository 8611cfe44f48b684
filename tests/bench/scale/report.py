"""What a whole pass costs by size, and two pictures in `build/bench`; never fails for being slow."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from tests.bench.clusters.workloads import Mix
from tests.bench.scale.whole_pass import WholePass, measured
from tests.measured_figures import say

FOLDER: Final = Path("build/bench")
SIZES: Final = ((60, 14.0), (1_000, 30.0), (5_000, 30.0), (15_000, 206 / 15))
"""Nodes, and pods on each of them."""
_MIXES: Final = (Mix.PLAIN, Mix.RICH)
_SPREADS: Final = (Mix.ZONES, Mix.HOSTS)
_BOUNDED: Final = 5_000
"""Nodes at which the ratio has a goal: the search's own steps cost more than a small cluster's reading."""
_MIB: Final = 1024
Runs = Mapping[tuple[Mix, int], WholePass]
_COSTS: Final[Mapping[str, Callable[[WholePass], float]]] = {
    "reading": lambda run: run.reading,
    "planning": lambda run: run.planning,
    "--potential": lambda run: run.searching,
}
_STYLES: Final = {Mix.PLAIN: "--", Mix.RICH: "-"}


def run(*, quick: bool) -> None:
    sizes = SIZES[:2] if quick else SIZES
    runs: dict[tuple[Mix, int], WholePass] = {}
    for nodes, pods in sizes:
        for mix in (*_MIXES, *_SPREADS):
            runs[mix, nodes] = found = measured(nodes, mix, pods)
            _say_one(found)
    _say_ratios(runs, [nodes for nodes, _ in sizes])
    write(runs, FOLDER)


def _say_one(found: WholePass) -> None:
    what = f"{found.mix.value}, {found.nodes:,} nodes, {found.pods:,} pods: planning / reading"
    ratio = f"{found.planning:.2f} s / {found.reading:.2f} s = {found.planning / found.reading:.2f}"
    say(what, ratio, "1.5 at most" if found.nodes == _BOUNDED else "(told, not bounded)")
    say("  planning by the bill / by list prices", f"{found.by_bill / found.planning:.2f}", "1.10 at most")
    freed = f"{found.freed:,} go, {found.share:.1%} of the bound, {found.searching:.1f} s"
    say(f"  --potential; peak memory {found.peak:,.0f} MiB", freed, f"{1.5 * _MIB:,.0f} MiB at most")


def _say_ratios(runs: Runs, sizes: Sequence[int]) -> None:
    for nodes in sizes:
        zones, hosts = (runs[mix, nodes].planning for mix in _SPREADS)
        say(f"{nodes:,} nodes: planning, spread over hosts / over zones", f"{hosts / zones:.2f}", "1, asymptotically")
    for mix in _MIXES:
        for least, most in pairwise(sizes):
            ratio = runs[mix, most].planning / runs[mix, least].planning
            goal = "4 at most" if (least, most) == (5_000, 15_000) else "(told, not bounded)"
            say(f"{mix.value}: planning, {most:,} nodes / {least:,} nodes", f"{ratio:.1f}", goal)


def write(runs: Runs, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scale.json").write_text(json.dumps([asdict(found) for found in runs.values()], indent=1))
    _draw(folder / "cost.png", "CPU seconds", runs, lambda axes: _draw_costs(axes, runs))
    _draw(folder / "quality.png", "share of the bound's money", runs, lambda axes: _draw_shares(axes, runs))
    say("figures and pictures", str(folder), "-")


def _draw(path: Path, label: str, runs: Runs, fill: Callable[[Any], None]) -> None:
    # Only `make bench` installs it.
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    sizes = sorted({nodes for _, nodes in runs})
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{nodes:,}" for nodes in sizes])
    axes.minorticks_off()
    axes.set_xlabel("nodes")
    axes.set_ylabel(label)
    axes.grid(visible=True, alpha=0.3)
    fill(axes)
    axes.legend()
    figure.savefig(path, dpi=120)


def _draw_costs(axes: Any, runs: Runs) -> None:
    axes.set_yscale("log")
    for mix in _MIXES:
        for number, (what, cost) in enumerate(_COSTS.items()):
            own = [found for (of, _), found in runs.items() if of is mix]
            points = [found.nodes for found in own], [cost(found) for found in own]
            axes.plot(*points, _STYLES[mix], marker="o", color=f"C{number}", label=f"{what}, {mix.value}")


def _draw_shares(axes: Any, runs: Runs) -> None:
    goals = {Mix.PLAIN: 0.95, Mix.RICH: 0.80}
    for number, mix in enumerate(_MIXES):
        own = [found for (of, _), found in runs.items() if of is mix]
        points = [found.nodes for found in own], [found.share for found in own]
        axes.plot(*points, marker="o", color=f"C{number}", label=mix.value)
        axes.axhline(goals[mix], linestyle=":", color=f"C{number}", label=f"goal, {mix.value}")
    axes.set_ylim(0, 1.02)
