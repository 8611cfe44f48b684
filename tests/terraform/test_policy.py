"""The policy that Terraform writes is the policy that people wrote: fields, figures, pauses and faults."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.core.policy.values import MOST_POLICY_BYTES
from shared.errors import BadPolicy
from tests.depth import DEEP
from tests.docs.policy_schema import schema
from tests.pages import ROOT, blocks, pages
from tests.terraform.module_runs import POLICY, Terraform, valued
from tests.terraform.policies import Document, drawn, every_field

SCENARIOS = sorted((ROOT / "tests" / "scenarios").glob("*.yaml"))

SHOWN = [
    text
    for page in pages()
    for text in blocks(page.read_text(encoding="utf-8"), "yaml")
    if not text.startswith("apiVersion:")
]
"""The policies of the documentation; other objects of Kubernetes stand there, too."""


def scenario_policy(path: Path) -> Document:
    policy: Document = yaml.safe_load(yaml.safe_load(path.read_text(encoding="utf-8"))["policy"])
    return policy


NULLS: Document = dict.fromkeys(schema()["properties"])
TYPED: dict[str, Document] = {
    "nothing": {},
    "every_field": every_field(),
    "exact_ratios": {"defaults": {"scaleDownCPURequestRatioLimit": 0.9, "excessNodesThreshold": 0.1}},
    "a_number_of_nodes": {"cluster": {"disruption": {"budgets": [{"nodes": 5}, {"nodes": "10%"}]}}},
    "budgets_that_do_not_always_bind": yaml.safe_load(
        "cluster: {disruption: {budgets: [{nodes: 1, reasons: [empty, expired]}, "
        "{nodes: 2, schedule: 0 9 * * *, duration: 8h}, {nodes: 30}, {nodes: 40}]}}"
    ),
    "karpenters_defaults": {"nodePools": {"a": {"enabled": True, "disruption": {}}}},
    "no_limit": {"nodePools": {"a": {"disruption": {"budgets": []}}}},
    "a_pool_with_all_defaults": {"nodePools": {"a": {}, "b-2": {"enabled": False}}},
    **{f"page_{number}": yaml.safe_load(text) for number, text in enumerate(SHOWN)},
    **{path.stem: scenario_policy(path) for path in SCENARIOS},
}
NO_FIELD = "there is no such field; docs/policy.md has all of them."
Rows = dict[str, tuple[list[str], Any]]
FAULTS: Rows = {
    "at the top": ([f"policy.dryrun: {NO_FIELD}"], {"dryrun": False}),
    "a word that would leave the pool off": (
        [f"policy.nodePools.a.enable: {NO_FIELD}"], {"nodePools": {"a": {"enable": True}}}
    ),
    "two at once": (
        [f"policy.cluster.disruption.budget: {NO_FIELD}", f"policy.drain.backoff.frist: {NO_FIELD}"],
        {"cluster": {"disruption": {"budget": []}}, "drain": {"backoff": {"frist": "5m"}}},
    ),
    "commitments": (
        [
            f"policy.cluster.commitments.{field}: {NO_FIELD}"
            for field in ("elsewhere.n2.cpu", "families.n2.memory", "familys", "flexible.perhour")
        ],
        yaml.safe_load(
            "cluster: {commitments: {familys: {}, families: {n2: {vcpu: 1, memory: 4}}, flexible: {perhour: 1}, "
            "elsewhere: {n2: {cpu: 1}}}}"
        ),
    ),
    "values are for ebb policy check": (
        [], {"cluster": {"timeGap": "5x", "disruption": {"budgets": "2"}}, "drain": 8, "nodePools": {"b": True}}
    ),
}  # fmt: skip
AS_LONG_AS_MAY_BE = f"dryRun: true # {'ü' * (MOST_POLICY_BYTES // 2 - 8)}"
FAULTS_OF_FILES: Rows = {
    "a field unknown": ([f"policy.dryrun: {NO_FIELD}"], "dryrun: false\n"),
    "as long as a policy may be": ([], f"{AS_LONG_AS_MAY_BE}\n"),
    "a byte longer": (
        [f"policy: it has {MOST_POLICY_BYTES + 1} bytes, and the functions read {MOST_POLICY_BYTES}; write less."],
        f"{AS_LONG_AS_MAY_BE}#\n",
    ),
}
PAUSED_FILES = {
    "a mapping": "dryRun: false\n",
    "comments and a document's start": "# why\n---\ndryRun: false  # soon\nnodePools: {a: {enabled: true}}",
    "a pause that was off": "paused: false  # for now\ndryRun: false\n",
    "a pool named paused": "dryRun: false\n'paused': false\nnodePools:\n  paused: {enabled: true}\n",
    "dates": "cluster: {freezes: [{from: 2026-11-27, to: 2026-12-01, timeZone: Asia/Tokyo}]}\n",
    "JSON": '{"dryRun": false, "nodePools": {"a": {"enabled": true}}}',
    "JSON with a pause that was off": '{"paused": false}',
}


def same(one: Policy, other: Policy) -> bool:
    """Whether two policies are the same but for the form in which their figures were written."""
    return replace(one, hash="") == replace(other, hash="")


@pytest.fixture(scope="module")
def written(values_tool: Terraform, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("policy")
    cases: dict[str, dict[str, Any]] = {name: {"policy": policy} for name, policy in TYPED.items()}
    cases |= {f"fault {name}": {"policy": policy} for name, (_, policy) in FAULTS.items()}
    cases |= {f"paused_{name}": {"policy": policy, "paused": True} for name, policy in TYPED.items()}
    cases["nulls"] = {"policy": NULLS}
    cases["typos"] = {"policy": misspelt(every_field(), "policy", [])}
    for name, text in [*PAUSED_FILES.items(), *((name, text) for name, (_, text) in FAULTS_OF_FILES.items())]:
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        cases |= {f"file {name}": {"policy_file": str(path)}}
        cases |= {f"paused file {name}": {"policy_file": str(path), "paused": True}} if name in PAUSED_FILES else {}
    return valued(values_tool, folder / "ground", POLICY, cases)


@pytest.mark.parametrize("name", TYPED)
def test_a_typed_policy_is_read_as_it_was_meant(written: dict[str, dict[str, Any]], name: str) -> None:
    assert same(parse(written[name]["document"].encode()), parse(json.dumps(TYPED[name]).encode()))
    assert written[name]["faults"] == []


@pytest.mark.parametrize("name", TYPED)
def test_a_pause_changes_nothing_else_in_a_typed_policy(written: dict[str, dict[str, Any]], name: str) -> None:
    found = parse(written[f"paused_{name}"]["document"].encode())

    assert same(found, replace(parse(json.dumps(TYPED[name]).encode()), paused=True))


def test_no_field_of_the_schema_is_dropped(written: dict[str, dict[str, Any]]) -> None:
    assert as_text(json.loads(written["every_field"]["document"])) == as_text(every_field())


def as_text(value: Any) -> Any:
    """Return a document with its figures as text: a limit of nodes may be either."""
    if isinstance(value, dict):
        return {key: as_text(part) for key, part in value.items()}
    return [as_text(part) for part in value] if isinstance(value, list) else str(value)


def test_null_is_absent(written: dict[str, dict[str, Any]]) -> None:
    assert same(parse(written["nulls"]["document"].encode()), parse(b"{}"))
    assert written["nulls"]["faults"] == []


@pytest.mark.parametrize(("name", "text"), PAUSED_FILES.items(), ids=PAUSED_FILES)
def test_a_file_is_written_as_it_stands_and_paused_as_text(
    written: dict[str, dict[str, Any]], name: str, text: str
) -> None:
    assert written[f"file {name}"]["document"] == text
    assert same(parse(written[f"paused file {name}"]["document"].encode()), replace(parse(text.encode()), paused=True))


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named_with_its_path_and_a_remedy(written: dict[str, dict[str, Any]], name: str) -> None:
    assert sorted(written[f"fault {name}"]["faults"]) == FAULTS[name][0]


BY_NAME = ("policy.nodePools", "policy.cluster.commitments.families", "policy.cluster.commitments.elsewhere")
"""Mappings whose names are a person's own."""


def misspelt(value: Any, path: str, places: list[str]) -> Any:
    """Return the document with a field too many in each section, and note the path of each."""
    if isinstance(value, list):
        return [misspelt(part, f"{path}[{number}]", places) for number, part in enumerate(value)]
    if not isinstance(value, dict):
        return value
    rows = {key: misspelt(part, f"{path}.{key}", places) for key, part in value.items()}
    if path in BY_NAME:
        return rows
    places.append(f"{path}.typo")
    return rows | {"typo": 1}


def test_a_field_that_does_not_exist_is_found_in_every_section(written: dict[str, dict[str, Any]]) -> None:
    places: list[str] = []
    misspelt(every_field(), "policy", places)

    assert len(places) > 20
    assert sorted(written["typos"]["faults"]) == sorted(f"{place}: {NO_FIELD}" for place in places)


@pytest.mark.parametrize("name", FAULTS_OF_FILES)
def test_a_file_is_judged_too(written: dict[str, dict[str, Any]], name: str) -> None:
    assert written[f"file {name}"]["faults"] == FAULTS_OF_FILES[name][0]


def test_the_count_that_always_binds_is_the_most_that_drains(written: dict[str, dict[str, Any]]) -> None:
    assert written["a_number_of_nodes"]["most_drains"] == 5
    assert written["budgets_that_do_not_always_bind"]["most_drains"] == 30
    assert written["nothing"]["most_drains"] == 0


def test_terraform_refuses_no_policy_that_ebb_accepts(values_tool: Terraform, tmp_path: Path) -> None:
    """Drawn from the schema's fields, right and wrong; what only `ebb policy check` refuses may pass here."""
    count = 80 if DEEP else 20
    documents = drawn(seed=8, count=count)
    for number, document in enumerate(documents):
        (tmp_path / f"{number}.json").write_text(json.dumps(document), encoding="utf-8")
    cases = {f"d{number}": {"policy_file": str(tmp_path / f"{number}.json")} for number in range(len(documents))}
    found = valued(values_tool, tmp_path / "ground", POLICY, cases)

    accepted = [accepts(document) for document in documents]
    assert count / 4 < sum(accepted) < 7 * count / 8
    assert [found[name]["faults"] for name, yes in zip(cases, accepted, strict=True) if yes] == [[]] * sum(accepted)


def accepts(document: Document) -> bool:
    try:
        parse(json.dumps(document).encode())
    except BadPolicy:
        return False
    return True
