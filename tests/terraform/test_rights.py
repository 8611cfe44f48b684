"""What the identities of the whole planned module may do: each role by name, nothing broad, nothing public."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.storage import BucketPolicy
from shared.core.policy.parsing import parse
from shared.settings import read_settings, variable
from tests.loopback_bucket import LoopbackBucket
from tests.terraform.module_runs import MODULE, Terraform, planned

Planned = dict[str, dict[str, Any]]

RUNS = """
mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "archive" {}
mock_provider "time" {}

run "planned" {
  command = plan

  variables {
    project = "my-project"
    cluster = { name = "prod", location = "europe-west1" }
    policy  = { dryRun = false, nodePools = { default-pool = { enabled = true } } }
    encryption = {
      key        = "projects/my-project/locations/europe-west1/keyRings/r/cryptoKeys/k"
      repository = "projects/my-project/locations/europe-west1/repositories/r"
    }
  }
}

run "cluster_elsewhere" {
  command = plan

  variables {
    project     = "my-project"
    cluster     = { name = "prod", location = "europe-west1", project = "clusters-project" }
    commitments = true
  }
}
"""
FUNCTION = 'google_cloudfunctions2_function.functions["{}"]'
ROLES = {
    "google_artifact_registry_repository_iam_member": {"roles/artifactregistry.writer"},
    "google_cloud_run_v2_service_iam_member": {"roles/run.invoker"},
    "google_kms_crypto_key_iam_member": {"roles/cloudkms.cryptoKeyEncrypterDecrypter"},
    "google_project_iam_member": {"roles/logging.logWriter", "roles/storage.objectViewer", "the custom role"},
    "google_pubsub_subscription_iam_member": {"roles/pubsub.subscriber"},
    "google_pubsub_topic_iam_member": {"roles/pubsub.publisher"},
    "google_service_account_iam_member": {"roles/iam.serviceAccountTokenCreator"},
    "google_storage_bucket_iam_member": {"roles/storage.objectViewer"},
}
CONDITIONAL = {"the custom role", "roles/storage.objectViewer"}


@pytest.fixture(scope="module")
def plans(tool: Terraform, module: Path) -> dict[str, Planned]:
    (module / "tests" / "planned.tftest.hcl").write_text(RUNS, encoding="utf-8")
    events = list(tool.events(module, "test", "-verbose", "-filter=tests/planned.tftest.hcl"))
    return planned(events)


@pytest.fixture(scope="module")
def plan(plans: dict[str, Planned]) -> Planned:
    return plans["planned"]


def grants(plan: Planned) -> list[tuple[str, str, dict[str, Any]]]:
    """Return each grant's kind, role and attributes; the custom role's name is known only to Google."""
    return [
        (address.split(".")[0], row.get("role", "the custom role"), row)
        for address, row in plan.items()
        if "_iam_" in address and "custom_role" not in address
    ]


def test_every_role_is_one_of_those_that_are_meant(plan: Planned) -> None:
    found: dict[str, set[str]] = {}
    for kind, role, _ in grants(plan):
        found.setdefault(kind, set()).add(role)

    assert found == ROLES


def test_nothing_in_the_plan_is_public_and_no_identity_has_a_key(plan: Planned) -> None:
    text = json.dumps(plan)

    assert "allUsers" not in text
    assert "allAuthenticatedUsers" not in text
    assert not [address for address in plan if address.startswith("google_service_account_key")]


def test_a_right_on_the_whole_project_is_bound_to_one_thing_where_that_can_be(plan: Planned) -> None:
    without = {role for _, role, row in grants(plan) if role in CONDITIONAL and not row.get("condition")}

    assert without == set()


@pytest.mark.acceptance(13)
def test_a_policy_elsewhere_is_ignored(plan: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both functions are told of that one object, and ask the bucket for it and nothing else."""
    row = plan["google_storage_bucket_object.policy"]
    bucket, name, content = (row[key] for key in ("bucket", "name", "content"))
    told = [
        plan[FUNCTION.format(function)]["service_config"][0]["environment_variables"]["EBB_POLICY"]
        for function in ("planner", "drainer")
    ]

    with LoopbackBucket() as server:
        server.data = content.encode()
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.address)
        read = BucketPolicy(bucket, name, parse).read()
        asked = [path for path, _ in server.requests]

    assert told == [f"gs://{bucket}/{name}"] * 2
    assert read == parse(content.encode())
    assert asked == [f"/storage/v1/b/{bucket}/o/{name.replace('/', '%2F')}?alt=media"]


def test_the_functions_accept_the_environment_that_they_are_given(plan: Planned) -> None:
    """Each variable is one that Ebb knows; a value that only Google knows is put in by its form."""
    unknown = {
        "EBB_TOPIC": "projects/p/topics/t",
        "EBB_REJECTED_TOPIC": "projects/p/topics/r",
        "EBB_RESULTS_TOPIC": "projects/p/topics/s",
    }
    for function in ("planner", "drainer"):
        config = plan[FUNCTION.format(function)]["service_config"][0]
        settings = read_settings({**unknown, **config["environment_variables"]})

        assert settings.cluster == "projects/my-project/locations/europe-west1/clusters/prod"
        assert config["timeout_seconds"] > {"planner": 0, "drainer": settings.step_seconds}[function]
        assert config["timeout_seconds"] < {"planner": settings.pass_seconds, "drainer": 600}[function]
        assert {name for name in config["environment_variables"] if name.startswith("EBB_")} <= {
            variable(name) for name in type(settings).__dataclass_fields__
        }


@pytest.mark.parametrize("function", ["planner", "drainer"])
def test_of_a_cluster_elsewhere_only_its_control_plane_is_looked_for_there(
    plans: dict[str, Planned], function: str
) -> None:
    """State, topics and traces are the functions' project's; what the clients open is what Terraform makes."""
    plan = plans["cluster_elsewhere"]
    environment = plan[FUNCTION.format(function)]["service_config"][0]["environment_variables"]
    settings = read_settings(environment)
    database = plan["google_firestore_database.state[0]"]
    reached = plan["google_project_iam_custom_role.control_plane"]

    assert settings.state_database == (database["project"], database["name"]) == ("my-project", database["name"])
    assert settings.project == plan[FUNCTION.format(function)]["project"] == "my-project"
    assert settings.cluster_project == reached["project"] == "clusters-project"
    assert {row["project"] for address, row in plan.items() if address.startswith("google_pubsub_topic.")} == {
        settings.project
    }


def test_the_right_to_call_a_function_is_given_again_with_it() -> None:
    """A service that is made anew has no right on it, and bears the name of the one before."""
    text = (MODULE / "iam.tf").read_text(encoding="utf-8")

    assert text.count("replace_triggered_by = [google_cloudfunctions2_function.functions[each.key].id]") == 1
