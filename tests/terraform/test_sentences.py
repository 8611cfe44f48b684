"""Every validation refuses, with a sentence that says what to write instead."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.terraform.module_runs import CLUSTER, MODULE, Terraform, refused

CASES: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "refusals.yaml").read_text(encoding="utf-8"))
Answers = dict[str, list[tuple[str, str]]]
FORMS = (MODULE / "inputs" / "variables.tf").read_text(encoding="utf-8")
OBJECTS = re.findall(r"^    (\w+) = (?:optional\()?object\(", FORMS, re.MULTILINE)
SECTIONS = ["functions.drainer", "functions.planner", "schedule.weekly_summary"]
FINE: dict[str, dict[str, Any]] = yaml.safe_load("""
nothing written: {}
all at the edge of a rule:
  bucket: {location: EU, force_destroy: false}
  build: {create: false, service_account: builder@builders.iam.gserviceaccount.com}
  cluster: {name: prod, location: europe-west1, nodes: 15000}
  database: {location: eur3, delete_protection: true}
  functions: {archive: functions.zip, binary_authorization: projects/p/platforms/cloudRun/policies/strict,
              log_level: DEBUG, planner: {cpu: "4"}}
  identities: {planner: p@elsewhere.iam.gserviceaccount.com, push: p@appspot.gserviceaccount.com}
  schedule: {cron: "*/5 18-22,23 * * 1-5", every_minutes: 5, longest_gap_minutes: 1085}
what is there already:
  bucket: {create: false, name: googol-of-before}
  cluster: {name: prod, location: europe-west1, nodes: 15001}
  database: {create: false, name: ebb-of-before}
  functions: {binary_authorization: default, planner: {memory: 2Gi}}
  schedule: {cron: "30 3 * * *", every_minutes: 1440, longest_gap_minutes: 1440, region: asia-east1}
a key of the region, and accounts of the project:
  project: example.com:my-shop
  encryption: {key: projects/k/locations/europe-west1/keyRings/r/cryptoKeys/k,
               repository: projects/k/locations/europe-west1/repositories/r, database: true, grant: false}
  bucket: {location: EUROPE-WEST1}
  database: {location: europe-west1}
  functions: {planner: {memory: 256Mi}}
  identities: {push: push@my-shop.example.com.iam.gserviceaccount.com,
               scheduler: tick@my-shop.example.com.iam.gserviceaccount.com}
  network: {connector: projects/h/locations/europe-west1/connectors/c, egress: ALL_TRAFFIC}
""")


@pytest.fixture(scope="module")
def answers(values_tool: Terraform, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """All cases at once, each by its place in the table."""
    inputs = {f"case{number}": case["inputs"] for number, case in enumerate(CASES.values())}
    typos = {f"typo{place}": _misspelt(path) for place, path in enumerate([*OBJECTS, *SECTIONS])}
    fine = {f"fine{number}": name for number, name in enumerate(FINE.values())}
    return refused(values_tool, tmp_path_factory.mktemp("sentences") / "ground", {**inputs, **typos, **fine})


def _misspelt(path: str) -> dict[str, Any]:
    name, _, section = path.partition(".")
    required = CLUSTER if name == "cluster" else {}
    return {name: {**required, **({section: {"typo": 1}} if section else {"typo": 1})}}


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_work_is_refused_with_a_remedy(answers: Answers, name: str) -> None:
    expected, said = CASES[name]["says"], [sentence for sentence, _ in answers[f"case{list(CASES).index(name)}"]]

    assert [sentence for sentence in said if sentence.startswith(expected)], said
    assert all(re.fullmatch(r"[A-Za-z_.]+(, [A-Za-z_.]+)*: .+\.", sentence) for sentence in said)


@pytest.mark.parametrize(("place", "path"), list(enumerate([*OBJECTS, *SECTIONS])))
def test_a_field_that_does_not_exist_is_refused_by_its_path(answers: Answers, place: int, path: str) -> None:
    expected = f"{path}.typo: there is no such field; terraform/README.md has all of them."

    assert [sentence for sentence, _ in answers[f"typo{place}"]] == [expected]


def test_no_input_but_the_policy_and_the_labels_is_outside_the_forms() -> None:
    outer = (MODULE / "variables.tf").read_text(encoding="utf-8")

    assert re.findall(r'^variable "(\w+)" \{\n[^}]*?type += any$', outer, re.MULTILINE) == OBJECTS
    assert "object(" not in outer
    assert re.findall(r"^      (\w+) += optional\(object", FORMS, re.MULTILINE) == [
        "planner",
        "drainer",
        "weekly_summary",
    ]


def test_a_missing_policy_file_is_one_fault(answers: Answers) -> None:
    assert len(answers[f"case{list(CASES).index('no policy file')}"]) == 1


@pytest.mark.parametrize("name", FINE)
def test_what_can_work_is_not_refused(answers: Answers, name: str) -> None:
    assert answers[f"fine{list(FINE).index(name)}"] == []


def test_every_rule_of_the_inputs_was_seen_to_refuse(answers: Answers) -> None:
    seen = {place for rows in answers.values() for _, place in rows if place}
    written = {
        f"terraform/{path.relative_to(MODULE)}:{number}"
        for path in [*MODULE.glob("variables*.tf"), *MODULE.glob("inputs/*.tf")]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.strip() in ("validation {", "precondition {")
    }

    assert written == seen
