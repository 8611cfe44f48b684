"""What a node costs, against published prices."""

from pathlib import Path

import pytest

from shared.adapters.prices import load
from shared.core.planning.prices import Price, per_month
from shared.errors import BadInput
from tests.builders import node

SPOT = {"cloud.google.com/gke-spot": "true"}


@pytest.mark.parametrize(
    ("expected", "machine"),
    [
        pytest.param(134_012, "e2-standard-4", id="E2 standard: $0.13402 in the list"),
        pytest.param(47_500, "n1-standard-1", id="N1 standard has 3.75 GiB a vCPU: $0.0475"),
        pytest.param(524_056, "n2-highmem-8", id="N2 highmem: $0.5241"),
        pytest.param(149_888, "c3d-highcpu-4", id="C3D highcpu has 2 GiB a vCPU: $0.14992"),
        pytest.param(33_510, "e2-medium", id="a shared core: $0.03351"),
        pytest.param(168_264, "n2-custom-4-8192", id="custom N2 has its own rates"),
        pytest.param(168_264, "n2-custom-4-8192-ext", id="extended memory"),
        pytest.param(84_132, "custom-2-4096", id="custom without a family is N1"),
    ],
)
def test_known_machines_cost_what_the_list_says(expected: int, machine: str) -> None:
    assert load().of(node("n", machine=machine)) == Price(expected)


@pytest.mark.parametrize("machine", ["x9-standard-4", "e2-tiny-4", "", "n1", "x9-custom-2-4096"])
def test_an_unknown_machine_is_estimated_by_what_it_offers_and_says_so(machine: str) -> None:
    assert load().of(node("n", machine=machine, cpu=4, memory=16)) == Price(134_012, estimated=True)


def test_a_spot_machine_costs_its_share() -> None:
    assert load().of(node("n", machine="e2-standard-4", labels=SPOT)) == Price(40_204)


def test_a_month_has_730_hours() -> None:
    assert per_month(134_012) == 97_828_760


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param("families", "machines: {}", id="no families"),
        pytest.param("families.e2 is missing", "families: {}", id="nothing to estimate by"),
        pytest.param("vcpu", "families: {e2: {vcpu: [], gib: 1, spot: 1, shapes: {}}}", id="no number"),
        pytest.param("cheap", "families: {e2: {vcpu: cheap, gib: 1, spot: 1, shapes: {}}}", id="a word"),
    ],
)
def test_a_bad_table_is_named_with_the_fault(expected: str, text: str, tmp_path: Path) -> None:
    table = tmp_path / "prices.yaml"
    table.write_text(text)
    with pytest.raises(BadInput, match=expected):
        load(table)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load(tmp_path / "none.yaml")
