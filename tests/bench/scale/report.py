"""What a whole pass costs by size, plain and rich in rules; never fails for being slow."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from tests.bench.clusters.workloads import Mix
from tests.bench.scale.whole_pass import WholePass, measured
from tests.measured_figures import say

SIZES: Final = ((60, 14.0), (1_000, 30.0), (5_000, 30.0), (15_000, 206 / 15))
"""Nodes, and pods on each of them."""
_MIXES: Final = (Mix.PLAIN, Mix.RICH)
_SPREADS: Final = (Mix.ZONES, Mix.HOSTS)
_BOUNDED: Final = 5_000
"""Nodes at which the ratio has a goal: the search's own steps cost more than a small cluster's reading."""
_MIB: Final = 1024
Runs = Mapping[tuple[Mix, int], WholePass]


def run(*, quick: bool) -> None:
    sizes = SIZES[:2] if quick else SIZES
    runs: dict[tuple[Mix, int], WholePass] = {}
    for nodes, pods in sizes:
        for mix in (*_MIXES, *_SPREADS):
            runs[mix, nodes] = found = measured(nodes, mix, pods)
            _say_one(found)
    _say_ratios(runs, [nodes for nodes, _ in sizes])


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
