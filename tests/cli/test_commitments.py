"""Commitments from a file of gcloud: what it lists, and files that list something else."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from functions.cli.input.commitments import CommitmentFile, read_commitments, with_commitments
from functions.cli.input.inputs import as_warnings, gather, odd_policy
from functions.cli.input.options import Sources
from functions.cli.policy.comparing import print_diff
from shared.adapters.prices import load
from shared.core.cluster.node import region_of
from shared.core.policy import Policy
from shared.core.policy.values import Capacity, Commitment, Commitments, FlexibleCommitment
from shared.core.records.commitments import count_commitments
from shared.errors import BadInput
from tests.builders import NOW, cluster, node
from tests.cli import dumps
from tests.depth import cases

HERE = "europe-west4"
URL = "https://www.googleapis.com/compute/v1/projects/prod/regions/"
SOURCE = f"{URL}{HERE}/commitments/a"
END = "2027-05-01T00:00:00.000-07:00"
UNTIL = datetime(2027, 5, 1, 7, tzinfo=UTC)
THREE_YEARS, ONE_YEAR = Fraction(55, 100), Fraction(37, 100)


def amounts(vcpu: int = 160, mib: int = 655_360, **others: int) -> list[dict[str, str]]:
    """Return the resources of a commitment as the API writes them: numbers as text."""
    found = {"VCPU": vcpu, "MEMORY": mib, **others}
    return [{"type": name, "amount": str(amount)} for name, amount in found.items() if amount]


def listed(name: str = "n2-base", **changes: Any) -> dict[str, Any]:
    """Return a commitment with all that gcloud prints of one."""
    return {
        "autoRenew": False,
        "category": "MACHINE",
        "creationTimestamp": "2024-04-30T03:21:00.123-07:00",
        "description": "",
        "endTimestamp": END,
        "id": "8201938471029384",
        "kind": "compute#commitment",
        "name": name,
        "plan": "THIRTY_SIX_MONTH",
        "region": f"{URL}{HERE}",
        "resources": amounts(),
        "selfLink": f"{URL}{HERE}/commitments/{name}",
        "startTimestamp": "2024-05-01T00:00:00.000-07:00",
        "status": "ACTIVE",
        "statusMessage": "The commitment is active, and so will apply to current resource usage.",
        "type": "GENERAL_PURPOSE_N2",
        **changes,
    }


N2 = Commitment("n2", Capacity(Fraction(160), Fraction(640)), UNTIL, THREE_YEARS)


def file_of(folder: Path, content: Any) -> CommitmentFile:
    path = folder / "commitments.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read_commitments(path)


def families(folder: Path, content: Any) -> tuple[Commitment, ...]:
    return count_commitments(file_of(folder, content).rows, HERE).families


@cases(
    "expected, content",
    ("what gcloud lists", (N2,), [listed()]),
    ("what gcloud describes", (N2,), listed()),
    ("an empty list", (), []),
)
def test_what_gcloud_writes_is_read(expected: tuple[Commitment, ...], content: Any, tmp_path: Path) -> None:
    assert families(tmp_path, content) == expected


@cases(
    "family, type_",
    ("the oldest type has no family in its name", "n1", "GENERAL_PURPOSE"),
    ("N2", "n2", "GENERAL_PURPOSE_N2"),
    ("N2D", "n2d", "GENERAL_PURPOSE_N2D"),
    ("N4", "n4", "GENERAL_PURPOSE_N4"),
    ("E2", "e2", "GENERAL_PURPOSE_E2"),
    ("T2D", "t2d", "GENERAL_PURPOSE_T2D"),
    ("C2", "c2", "COMPUTE_OPTIMIZED"),
    ("C2D", "c2d", "COMPUTE_OPTIMIZED_C2D"),
    ("C3", "c3", "COMPUTE_OPTIMIZED_C3"),
    ("C3D", "c3d", "COMPUTE_OPTIMIZED_C3D"),
    ("H3", "h3", "COMPUTE_OPTIMIZED_H3"),
    ("A2", "a2", "ACCELERATOR_OPTIMIZED"),
    ("M3", "m3", "MEMORY_OPTIMIZED_M3"),
)
def test_a_type_is_a_machine_family(family: str, type_: str, tmp_path: Path) -> None:
    assert [found.family for found in families(tmp_path, [listed(type=type_)])] == [family]


def size(vcpu: int, gib: float) -> dict[str, Capacity]:
    return {"size": Capacity(Fraction(vcpu), Fraction(gib))}


@cases(
    "expected, changes",
    ("a year", {"discount": ONE_YEAR}, {"plan": "TWELVE_MONTH"}),
    ("a plan that is not known", {"discount": ONE_YEAR}, {"plan": "SIXTY_MONTH"}),
    ("one that renews itself has no end", {"until": None}, {"autoRenew": True}),
    ("memory is in MiB", size(8, 0.5), {"resources": amounts(8, 512)}),
    ("GPUs and local SSDs are of no family's rate", size(12, 85),
     {"resources": amounts(12, 87_040, ACCELERATOR=1, LOCAL_SSD=375)}),
    ("a merged one", {}, {"mergeSourceCommitments": [SOURCE]}),
    ("a split one", {}, {"splitSourceCommitment": SOURCE}),
    ("one with reservations", {}, {"reservations": [{"name": "r"}]}),
    ("a region by its name", {}, {"region": HERE}),
)  # fmt: skip
def test_a_commitment_has_size_end_and_discount(
    expected: dict[str, Any], changes: dict[str, Any], tmp_path: Path
) -> None:
    assert families(tmp_path, [listed(**changes)]) == (replace(N2, **expected),)


@cases(
    "why, changes",
    ("another region", "of us-central1", {"region": f"{URL}us-central1"}),
    ("not begun", "not yet active", {"status": "NOT_YET_ACTIVE"}),
    ("ended", "expired", {"status": "EXPIRED"}),
    ("merged into another", "cancelled", {"status": "CANCELLED"}),
    ("a license", "of licenses", {"category": "LICENSE", "resources": []}),
    ("GPUs alone", "of neither vCPUs nor memory", {"resources": amounts(0, 0, ACCELERATOR=4)}),
)
def test_what_does_not_count_is_named_with_the_reason(why: str, changes: dict[str, Any], tmp_path: Path) -> None:
    found = count_commitments(file_of(tmp_path, [listed(), listed("other", **changes)]).rows, HERE)
    assert (found.families, found.left_out) == ((N2,), {why: ("other",)})


@pytest.mark.parametrize("type_", ["MEMORY_OPTIMIZED", "ACCELERATOR_OPTIMIZED_A3_MEGA", "TYPE_UNSPECIFIED", "NEW_N9"])
def test_a_type_without_a_known_family_is_a_warning_and_never_guessed(type_: str, tmp_path: Path) -> None:
    file = file_of(tmp_path, [listed(type=type_)])
    assert count_commitments(file.rows, HERE).families == ()
    assert f" {type_} " in file.unknown(HERE)


@cases(
    "expected, content",
    ("an empty file", "it is empty", ""),
    ("a table", "malformed", "NAME     REGION        END_TIMESTAMP\nn2-base  europe-west4  2027"),
    ("YAML", "malformed", "- kind: compute#commitment"),
    ("half a file", "truncated", "[{"),
    ("machines", "holds a compute#instance", [{"kind": "compute#instance", "status": "RUNNING"}]),
    ("node pools", "missing required field", [{"name": "default-pool", "status": "RUNNING"}]),
    ("a dump of nodes", "holds a List", {"apiVersion": "v1", "kind": "List", "items": []}),
    ("a number", "Expected `object`", [5]),
    ("no number", r"resources\[0\]\.amount", [listed(resources=[{"type": "VCPU", "amount": "x"}])]),
    ("less than none", r"resources\[0\]\.amount", [listed(resources=[{"type": "VCPU", "amount": "-8"}])]),
    ("a time without a zone", r"endTimestamp", [listed(endTimestamp="2027-05-01T00:00:00")]),
    ("no time", r"endTimestamp", [listed(endTimestamp="May")]),
)
def test_another_file_is_refused_with_the_command_that_writes_it(expected: str, content: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"(?s)^--commitments: .*{expected}.*gcloud compute commitments list"):
        file_of(tmp_path, content)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere\.json"):
        read_commitments(tmp_path / "nowhere.json")


def test_the_file_replaces_the_families_of_the_policy_and_nothing_else(tmp_path: Path) -> None:
    own = Commitments(
        (Commitment("e2", Capacity(Fraction(8))),),
        FlexibleCommitment(Fraction(12), Fraction(28, 100)),
        {"n2": Capacity(Fraction(40))},
        ("prod-a", "prod-b"),
    )
    changed, _ = with_commitments(Policy(commitments=own), file_of(tmp_path, [listed()]), HERE, NOW)
    assert changed.commitments == Commitments((N2,), own.flexible, own.elsewhere, own.shared_by)


def test_commands_plan_by_the_file_whatever_policy_they_compare(tmp_path: Path) -> None:
    dump, path = dumps.write(tmp_path / "dump.json", 4), tmp_path / "commitments.json"
    path.write_text(json.dumps([listed(), listed("other", region=f"{URL}us-central1")]))
    inputs = gather(Sources((dump,), commitments=path))

    assert inputs.policy.commitments.families == (N2,)
    assert inputs.committed_under(Policy(hash="other")) == Policy(hash="other", commitments=inputs.policy.commitments)
    assert [note for note in inputs.notes if "n2 160 vCPUs 640 GiB" in note and "1 commitment of us-central1" in note]


@cases(
    "named, taken",
    ("in force", [], UNTIL - timedelta(seconds=1)),
    ("at the end", ["n2 on 2027-05-01", "flexible on 2027-05-01"], UNTIL),
)
def test_what_has_ended_is_a_warning(named: list[str], taken: datetime) -> None:
    flexible = FlexibleCommitment(Fraction(1), Fraction(0), UNTIL)
    rows = Commitments((N2, Commitment("e2", Capacity(Fraction(8)))), flexible)
    found = as_warnings(odd_policy(Policy(commitments=rows), replace(cluster([node("a")]), taken_at=taken), load()))

    assert [
        words for words in ("n2 on 2027-05-01", "flexible on 2027-05-01", "e2") if words in " ".join(found)
    ] == named


def test_the_region_is_that_of_the_first_node_that_shows_one() -> None:
    without, within = node("a", zone=""), node("b", zone="europe-west4-a")
    assert region_of([without, within]) == "europe-west4"


def test_a_policy_alone_has_no_cluster_whose_bill_could_differ(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--commitments"):
        print_diff(tmp_path, tmp_path, Sources(commitments=tmp_path), assume_marked=False)
