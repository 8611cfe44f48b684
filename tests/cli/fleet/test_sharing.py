"""Clusters of a fleet that share commitments have each its part, by use, so that their bills add up."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from functions.cli.fleet.cluster_reading import DIVIDED, SharedUse, divide_commitments, share_commitments, use_of
from functions.cli.input.commitments import COUNTED_BY_EACH, SHARED
from shared.adapters.prices import load
from shared.core.cluster.names import SPOT_LABELS
from shared.core.planning.prices import HOURS_PER_MONTH
from shared.core.policy import Policy
from shared.core.policy.values import Capacity, Commitment, Commitments, FlexibleCommitment
from tests.builders import cluster, node
from tests.cli.fleet.fleets import dump, ebb
from tests.depth import cases

HERE = "europe-west4"
BOTH = ("alpha", "beta")


def use(region: str = HERE, clusters: tuple[str, ...] = BOTH, **used: int) -> SharedUse:
    return SharedUse(region, clusters, {"": sum(used.values()), **used})


@cases(
    "expected, uses",
    ("by use", {"a": (1, 4), "b": (3, 4)}, {"a": use(n2=10), "b": use(n2=30)}),
    ("what nobody uses evenly", {"a": (1, 2), "b": (1, 2)}, {"a": use(n2=0), "b": use(n2=0)}),
    ("all to the only one that uses it", {"a": (1, 1), "b": (0, 1)}, {"a": use(n2=10), "b": use(e2=30)}),
    ("the others are not read", {}, {"a": use(n2=10)}),
    ("another region has other commitments", {}, {"a": use(n2=10), "b": use("us-east1", n2=30)}),
    ("another group of clusters", {}, {"a": use(n2=10), "b": use(clusters=("beta", "gamma"), n2=30)}),
)
def test_a_share_is_that_of_the_use(expected: dict[str, tuple[int, int]], uses: dict[str, SharedUse]) -> None:
    assert {name: commitment["n2"] for name, commitment in share_commitments(uses).items()} == {
        name: Fraction(*share) for name, share in expected.items()
    }


def test_a_part_is_of_families_money_and_what_is_used_elsewhere() -> None:
    whole = Commitments(
        (Commitment("n2", Capacity(Fraction(80), Fraction(320))),),
        FlexibleCommitment(Fraction(10), Fraction(28, 100)),
        {"n2": Capacity(Fraction(8))},
        BOTH,
    )
    part = divide_commitments(whole, {"n2": Fraction(1, 4), "": Fraction(1, 5)})
    assert [family.size for family in part.families] == [Capacity(Fraction(20), Fraction(80))]
    assert part.flexible == FlexibleCommitment(Fraction(2), Fraction(28, 100))
    assert part.elsewhere == {"n2": Capacity(Fraction(2))}


@cases(
    "known, commitments",
    ("named by its policy", True, Commitments((Commitment("e2", Capacity()),), shared_by=("c", "d"))),
    ("not named", False, Commitments((Commitment("e2", Capacity()),), shared_by=("d",))),
    ("nothing is committed", False, Commitments(shared_by=("c", "d"))),
)
def test_a_cluster_shares_where_its_policy_names_it(known: bool, commitments: Commitments) -> None:
    snapshot = cluster([node("n1"), node("n2", labels={SPOT_LABELS[0]: "true"})])
    found = use_of(Policy(commitments=commitments), snapshot, load(), None)
    assert (found is not None) == known
    assert found is None or found.used["e2"] == found.used[""] == load().of(snapshot.nodes[0]).per_hour


def test_bills_of_clusters_that_share_a_commitment_add_up(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    dump(folder / "a.json", "alpha", 12)
    dump(folder / "b.json", "beta", 24)
    policy = tmp_path / "policy.yaml"
    commitments = "{families: {e2: {vcpu: 48, gib: 192}}, elsewhere: {}, sharedBy: [alpha, beta]}"
    policy.write_text(f"cluster: {{commitments: {commitments}}}\nnodePools: {{default-pool: {{enabled: true}}}}\n")

    shown = ebb("fleet", "--dump", folder, "--policy", policy, "-o", "json")
    found: Any = json.loads(shown.stdout)
    one, other = ((cluster_["ladder"][0], cluster_["commitments"][0]) for cluster_ in found["clusters"])

    assert DIVIDED.format(clusters="alpha, beta") in shown.stderr
    assert not [note for note in (SHARED.format(clusters="alpha, beta"), COUNTED_BY_EACH) if note in shown.stderr]
    assert sorted([one[1]["vcpu"], other[1]["vcpu"]]) == [16, 32]
    listed = (one[0]["cost_per_month"] + other[0]["cost_per_month"]) / HOURS_PER_MONTH
    paid = one[0]["bill_per_hour"] + other[0]["bill_per_hour"]
    assert paid == pytest.approx(listed - listed * 12 / 36 * 0.37, rel=1e-4)


def test_clusters_that_share_nothing_by_their_policy_count_all_of_it_each_and_a_note_names_it(tmp_path: Path) -> None:
    dumps = [dump(tmp_path / f"{name}.json", name, 6) for name in BOTH]
    policy = tmp_path / "policy.yaml"
    policy.write_text("cluster: {commitments: {families: {e2: {vcpu: 48, gib: 192}}}}\nnodePools: {web-pool: {}}\n")

    shown = [ebb(command, "--dump", *dumps, "--policy", policy, "-o", "json") for command in ("plan", "fleet")]

    assert [COUNTED_BY_EACH in name.stderr for name in shown] == [True, True]
    assert [row["commitments"][0]["vcpu"] for row in json.loads(shown[1].stdout)["clusters"]] == [48, 48]
    assert COUNTED_BY_EACH not in ebb("fleet", "--dump", dumps[0], "--policy", policy, "-o", "json").stderr
