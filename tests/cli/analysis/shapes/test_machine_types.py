"""What GKE leaves of machine types, against real nodes and against a second reading of its page."""

import pytest

from functions.cli.analysis.shapes.machine_types import ARM, FAMILIES, allocatable, machine_type, types_of
from infra.local.machine_types import allocatable as formula_of_the_simulated_gke
from shared.core.cluster.resources import Resources
from shared.core.planning.prices import GIB
from tests.bench.shapes.drawn_clusters import PRICES

KIB = 1024
REAL_NODES = {
    "n2-standard-4, GKE 1.36": ("n2-standard-4", 3920, 13_591_652 * KIB),
    "e2-medium, a shared core, GKE 1.23": ("e2-medium", 940, 2_880_076 * KIB),
}
OF_THE_MACHINE = 0.05
"""The share of a machine that firmware and kernel take, which the formula does not know."""


@pytest.mark.parametrize(("name", "cpu", "memory"), REAL_NODES.values(), ids=REAL_NODES)
def test_the_formula_agrees_with_real_nodes_but_for_what_the_kernel_takes(name: str, cpu: int, memory: int) -> None:
    machine = machine_type(name, PRICES)
    assert machine is not None
    found = allocatable(machine)
    assert found.cpu == cpu
    assert 0 <= found.memory - memory <= OF_THE_MACHINE * float(machine.size.gib) * GIB


@pytest.mark.parametrize("name", ["e2-standard-2", "n2-highmem-16", "n2-standard-32", "n2-highcpu-96", "e2-highcpu-4"])
def test_the_formula_is_what_the_simulated_gke_reads_from_the_same_page(name: str) -> None:
    machine, other = machine_type(name, PRICES), formula_of_the_simulated_gke(name)
    assert machine is not None
    found, expected = allocatable(machine), Resources.parse({axis: other[axis] for axis in ("cpu", "memory")})
    assert abs(found.cpu - expected.cpu) <= 1
    assert abs(found.memory - expected.memory) <= 1024**2


def test_the_price_table_knows_every_family_with_all_its_sizes_but_those_priced_whole() -> None:
    counts = {family: len(list(types_of(family, PRICES))) for family in FAMILIES}
    assert counts == {
        "e2": 14, "n1": 22, "n2": 28, "n2d": 31, "n4": 24, "c2": 5, "c2d": 21, "c3": 18, "c3d": 24, "t2a": 7, "t2d": 8,
    }  # fmt: skip
    assert set(FAMILIES) >= ARM


def test_a_name_that_shows_no_size_is_no_machine_type() -> None:
    assert [machine_type(name, PRICES) for name in ("", "a2-highgpu-1g", "n2-standard-x")] == [None, None, None]
