from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.resources import GPU
from shared.core.placement.search import LITTLE
from shared.core.planning.prices import Price, per_month
from shared.core.policy.values import Capacity
from shared.core.records.state import MICRO
from shared.errors import BadInput
from tests.builders import node, resources
from tests.depth import cases

SPOT = {"cloud.google.com/gke-spot": "true"}
GPUS, COUNT = "cloud.google.com/gke-accelerator", "cloud.google.com/gke-accelerator-count"
SHARED = "cloud.google.com/gke-max-shared-clients-per-gpu"
SSD = "cloud.google.com/gke-ephemeral-storage-local-ssd"
RAW = "cloud.google.com/gke-local-nvme-ssd"


@cases(
    "expected, machine, labels",
    ("E2 standard: $0.13402 in the list", 134_012, "e2-standard-4", {}),
    ("N1 standard has 3.75 GiB a vCPU: $0.0475", 47_500, "n1-standard-1", {}),
    ("N2 highmem: $0.5241", 524_056, "n2-highmem-8", {}),
    ("C3D highcpu has 2 GiB a vCPU: $0.14992", 149_888, "c3d-highcpu-4", {}),
    ("a shared core: $0.03351", 33_510, "e2-medium", {}),
    ("custom N2 has its own rates", 168_264, "n2-custom-4-8192", {}),
    ("extended memory", 168_264, "n2-custom-4-8192-ext", {}),
    ("custom without a family is N1", 84_132, "custom-2-4096", {}),
    ("a spot machine costs its share", 40_204, "e2-standard-4", SPOT),
    ("no drain could save one that stands by", 0, "e2-standard-4", {names.STANDBY_NODE: "true"}),
    ("nor one that Google manages", 0, "e2-standard-4", {names.MANAGED_NODE: "true"}),
    ("GPUs that a machine comes with cost nothing more", 760_000, "g2-standard-4", {GPUS: "nvidia-l4", COUNT: "1"}),
)
def test_known_machines_cost_what_the_list_shows(expected: int, machine: str, labels: dict[str, str]) -> None:
    assert load().of(node("n", machine=machine, labels=labels)) == Price(expected)


@pytest.mark.parametrize("machine", ["e2-micro", "e2-small", "e2-medium"])
def test_a_commitment_covers_as_much_of_a_shared_core_as_it_is_billed_for(machine: str) -> None:
    prices = load()
    family, size = prices.size(machine) or ("", Capacity())
    listed = prices.of(node("n", machine=machine)).per_hour
    assert prices.rates(family, "").of(size.vcpu, size.gib) * MICRO == pytest.approx(listed, abs=LITTLE)


@pytest.mark.parametrize("machine", ["x9-standard-4", "e2-tiny-4", "", "n1", "x9-custom-2-4096"])
def test_an_unknown_machine_is_estimated_by_what_it_offers_and_shows_it(machine: str) -> None:
    assert load().of(node("n", machine=machine, cpu=4, memory=16)) == Price(134_012, estimated=True)


T4 = {GPUS: "nvidia-tesla-t4"}
N1 = 189_999
"""n1-standard-4."""


@cases(
    "expected, estimated, given",
    ("two GPUs", N1 + 2 * 350_000, False, {"labels": T4, "allocatable": resources(4, 15, **{GPU: 2})}),
    ("one GPU that four pods share", N1 + 350_000, False,
     {"labels": {**T4, SHARED: "4"}, "allocatable": resources(4, 15, **{GPU: 4})}),
    ("GPUs that no two pods may share", N1 + 700_000, False,
     {"labels": {**T4, SHARED: "0"}, "allocatable": resources(4, 15, **{GPU: 2})}),
    ("a spot GPU has its own price", 40_090 + 110_000, False, {"labels": {**T4, **SPOT, COUNT: "1"}}),
    ("a GPU that is not listed is estimated", N1 + 700_000, True,
     {"labels": {GPUS: "nvidia-x", COUNT: "1"}}),
    ("two local SSDs hold 750 GB of ephemeral storage", N1 + 82_192, False,
     {"labels": {SSD: "true"}, "allocatable": resources(4, 15, **{"ephemeral-storage": 700 * 10**9})}),
    ("raw ones are at least one", N1 + 41_096, True, {"labels": {RAW: "true"}}),
)  # fmt: skip
def test_what_is_attached_costs_next_to_the_machine(expected: int, estimated: bool, given: dict[str, Any]) -> None:
    assert load().of(node("n", machine="n1-standard-4", **given)) == Price(expected, estimated=estimated)


@cases(
    "expected, given",
    ("by the zone's name: 0.14754 in the list", 147_529, {"zone": "europe-west4-a"}),
    ("by the region's label", 172_607, {"labels": {"topology.kubernetes.io/region": "europe-west3"}}),
    ("one that is not known as the table's own", 134_012, {"zone": "mars-north1-a"}),
)
def test_a_region_has_its_share(expected: int, given: dict[str, Any]) -> None:
    """Rounded to three decimals the shares are off by less than a thousandth."""
    assert abs(load().of(node("n", **given)).per_hour - expected) < 135


def test_a_discount_is_not_for_spot() -> None:
    prices = replace(load(), discounts={"": Fraction(1, 2)})

    assert prices.of(node("n")).per_hour == 67_006
    assert prices.of(node("n", labels=SPOT)) == load().of(node("n", labels=SPOT))


@pytest.mark.parametrize(("expected", "family"), [(67_006, "e2"), (134_012, "n2")])
def test_a_discount_of_a_family_counts_before_that_of_all(expected: int, family: str) -> None:
    prices = replace(load(), discounts={family: Fraction(1, 2), "": Fraction(0)})

    assert prices.of(node("n")).per_hour == expected


def test_a_month_has_730_hours() -> None:
    assert per_month(134_012) == 97_828_760


@cases(
    "expected, text",
    ("no families", "families", "machines: {}"),
    ("nothing to estimate by", "families.e2 is missing", "families: {}"),
    ("no number", "vcpu", "families: {e2: {vcpu: [], gib: 1, spot: 1, shapes: {}}}"),
    ("a word", "cheap", "families: {e2: {vcpu: cheap, gib: 1, spot: 1, shapes: {}}}"),
)
def test_a_bad_table_is_named_with_the_fault(expected: str, text: str, tmp_path: Path) -> None:
    table = tmp_path / "prices.yaml"
    table.write_text(text)
    with pytest.raises(BadInput, match=expected):
        load(table)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load(tmp_path / "none.yaml")
