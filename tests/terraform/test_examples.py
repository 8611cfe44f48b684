"""Each example is applied against mocked providers, in each of its forms."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shared.core.policy.parsing import parse
from tests.depth import cases, first_of
from tests.terraform.mocked import outputs_of, plan_of
from tests.terraform.module_runs import MODULE, Terraform

PRIVATE = ("-var", "project=my-project", "-var", 'cluster={name="prod",location="europe-west1-b"}')
FLEET = MODULE / "examples" / "fleet"
INSTALLATIONS = [path for path in MODULE.glob("examples/**/main.tf") if path.parent.name not in {"review", "slack"}]
ELSEWHERE = (
    *("-var", "project=my-project"),
    *("-var", 'cluster={name="prod",location="europe-west1",project="clusters-project"}'),
)
FORMS = [
    pytest.param("simple", PRIVATE, id="one cluster"),
    pytest.param("fleet/one-state", ("-var", "project=my-project"), id="a fleet in one state"),
    pytest.param("other-project", ELSEWHERE, id="a cluster of another project"),
    pytest.param("private-cluster", PRIVATE, id="a private cluster by its DNS endpoint"),
    pytest.param("private-cluster", (*PRIVATE, "-var", "through=connector", "-var", "subnet=s"), id="by a connector"),
    *(
        pytest.param("fleet", (f"-var-file=clusters/{path.name}",), id=f"a state for {path.stem}")
        for path in sorted((MODULE / "examples" / "fleet" / "clusters").glob("*.tfvars"))
    ),
]


@pytest.mark.parametrize(("folder", "given"), first_of(2, FORMS))
def test_an_example_can_be_planned_and_applied(
    tool: Terraform, module: Path, folder: str, given: tuple[str, ...]
) -> None:
    root = module / "examples" / folder
    found = outputs_of(tool, root, "/".join([*[".."] * len(root.relative_to(module).parts), "tests/mocks"]), *given)
    policies, environments = (by_cluster(found[name]) for name in ("policy", "cli"))

    assert policies
    for policy in policies:
        assert parse(policy.encode()).pools["default-pool"].enabled
    assert len(set(environments)) == len(policies)


def by_cluster(output: str | dict[str, str]) -> list[str]:
    return [output] if isinstance(output, str) else list(output.values())


def test_every_example_has_the_outputs_that_the_commands_name() -> None:
    for path in INSTALLATIONS:
        written = set(re.findall(r'^output "(\w+)"', path.read_text(encoding="utf-8"), re.MULTILINE))
        assert written == {"cli", "drain_command", "follow_command", "log_queries", "policy"}, path


def test_every_example_applies_the_rights_inside_the_cluster_before_the_functions_are_there() -> None:
    """By the submodule, from an output that waits for the identities alone."""
    for path in INSTALLATIONS:
        text = path.read_text(encoding="utf-8")
        calls = re.findall(r'^module "rbac\w*" \{(.*?)^\}', text, re.MULTILINE | re.DOTALL)

        assert calls, path
        for function in ("planner", "drainer"):
            given = re.compile(rf'{function} = module\.ebb(\["[\w-]+"\])?\.identities\.{function}$', re.MULTILINE)
            assert all(given.search(call) for call in calls), path


def test_an_example_that_enables_an_api_waits_until_it_answers() -> None:
    """As long as the module waits for its own."""
    enabling = [
        text
        for path in MODULE.glob("examples/**/main.tf")
        if '"google_project_service"' in (text := path.read_text(encoding="utf-8"))
    ]

    assert enabling
    for text in enabling:
        [api] = re.findall(r'^resource "google_project_service" "(\w+)"', text, re.MULTILINE)
        wait = re.search(r'^resource "time_sleep" "(\w+)" \{(.*?)^\}', text, re.MULTILINE | re.DOTALL)
        assert wait, api
        assert f"depends_on = [google_project_service.{api}]" in wait[2]
        assert 'create_duration = "90s"' in wait[2]
        assert text.count(f"google_project_service.{api}]") == 1
        assert f"depends_on = [time_sleep.{wait[1]}" in text


@pytest.mark.deep
def test_of_the_identities_alone_the_rights_are_known(tool: Terraform, module: Path) -> None:
    """For kubectl: identities, then their rights, then the rest, so that no pass is without rights."""
    target = "module.ebb.google_service_account.accounts"
    assert f"terraform apply -target={target} " in (MODULE / "README.md").read_text(encoding="utf-8")

    root = module / "examples" / "simple"
    (root / "rbac.tf").write_text('output "rbac" { value = module.ebb.rbac }')
    found = outputs_of(tool, root, "../../tests/mocks", *PRIVATE, target=target)
    (root / "rbac.tf").unlink()

    assert found["rbac"].count("@my-project.iam.gserviceaccount.com") == 5
    assert "policy" not in found


def test_on_the_side_of_a_cluster_elsewhere_stand_three_grants(tool: Terraform, module: Path) -> None:
    root = module / "examples" / "other-project"
    plan = plan_of(tool, root, "../../tests/mocks", *ELSEWHERE)
    there = {
        address for address, row in plan.items() if row.get("project") == "clusters-project" and ".data." not in address
    }

    assert there == {
        "module.ebb.google_project_iam_custom_role.control_plane",
        'module.ebb.google_project_iam_member.control_plane["drainer"]',
        'module.ebb.google_project_iam_member.control_plane["planner"]',
    }
    assert sum("module.rbac." in address for address in plan) == 10


@cases(
    "alerts, given",
    ("a function alone", 0, ()),
    ("and an alert", 1, ("-var", 'channels=["projects/my-project/notificationChannels/1"]')),
)
def test_the_weekly_summary_can_be_posted_and_mailed(
    tool: Terraform, module: Path, alerts: int, given: tuple[str, ...]
) -> None:
    topic = "projects/my-project/topics/results"
    own = {"project": "my-project", "region": "europe-west1", "bucket": "b", "results_topic": topic}
    own["name"] = "ebb-slack-west"
    words = [word for name, value in own.items() for word in ("-var", f"{name}={value}")]
    plan = plan_of(tool, module / "examples" / "slack", "../../tests/mocks", *words, *given)

    function = plan["google_cloudfunctions2_function.slack"]
    assert function["event_trigger"][0]["pubsub_topic"] == topic
    assert function["name"] == plan["google_service_account.slack"]["account_id"] == "ebb-slack-west"
    assert plan["google_cloud_run_v2_service_iam_member.trigger"]["role"] == "roles/run.invoker"
    assert {"eventarc.googleapis.com"} == {
        row["service"] for name, row in plan.items() if name.startswith("google_project_service.")
    }
    assert sum(address.startswith("google_monitoring_alert_policy") for address in plan) == alerts


def guard_of(fleet: Path) -> str:
    """Return what the fleet's root says of its variables and its state, which needs no provider."""
    block = re.compile(r'^(?:variable|resource "terraform_data") .*?^\}', re.MULTILINE | re.DOTALL)
    found = block.findall((fleet / "main.tf").read_text(encoding="utf-8"))
    return "\n".join(found)


def test_variables_of_one_cluster_never_meet_the_state_of_another(values_tool: Terraform, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(guard_of(FLEET), encoding="utf-8")
    one, other = (f"-var-file={path}" for path in sorted((FLEET / "clusters").glob("*.tfvars"))[:2])
    assert values_tool.init(tmp_path) is None
    steps = [
        values_tool.run(tmp_path, *command)
        for command in (
            ("apply", "-auto-approve", one),
            ("plan", "-detailed-exitcode", one),
            ("plan", "-no-color", other),
            ("destroy", "-auto-approve", one),
        )
    ]

    assert [step.returncode for step in steps] == [0, 0, 1, 0], [step.stderr for step in steps]
    assert "the variables are those of another cluster" in " ".join(steps[2].stderr.split())


STAND_IN = """#!/bin/sh
echo "$TF_DATA_DIR $*" >> "$CALLS"
"""


@pytest.mark.parametrize(
    ("names", "given"), [(["prod-north", "prod-west"], []), (["prod-west"], ["prod-west"])], ids=["all", "one by name"]
)
def test_the_loop_takes_variables_state_and_data_by_one_name(
    tmp_path: Path, names: list[str], given: list[str]
) -> None:
    (tmp_path / "terraform").write_text(STAND_IN)
    (tmp_path / "terraform").chmod(0o755)
    shutil.copytree(FLEET, tmp_path / "fleet", ignore=shutil.ignore_patterns(".terraform*"))
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "CALLS": str(tmp_path / "calls")}
    subprocess.run(["sh", str(tmp_path / "fleet" / "each.sh"), "apply", *given], env=environment, check=True)

    assert (tmp_path / "calls").read_text().splitlines() == [
        line
        for name in names
        for line in (
            f".terraform/{name} init -input=false -backend-config=prefix=ebb/{name}",
            f".terraform/{name} apply -var-file=clusters/{name}.tfvars",
        )
    ]
