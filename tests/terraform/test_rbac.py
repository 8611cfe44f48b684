"""The roles that Terraform's module applies, and what waits for what."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.depth import cases
from tests.rights.rbac import OPTIONS, filled
from tests.terraform.module_runs import MODULE, ROOT, Terraform, planned

DRAINER = "drainer@my-project.iam.gserviceaccount.com"
PLANNER = "planner@my-project.iam.gserviceaccount.com"
RUN = f"""
mock_provider "kubernetes" {{}}

run "planned" {{
  command = plan

  variables {{
    planner = "{PLANNER}"
    drainer = "{DRAINER}"
    optional_rights = {json.dumps([*OPTIONS])}
  }}
}}
"""


@pytest.mark.acceptance(108)
def test_the_submodule_makes_the_admission_policies_as_they_were_tried(tool: Terraform, module: Path) -> None:
    folder = module / "rbac"
    assert tool.init(folder) is None
    (folder / "tests" / "planned.tftest.hcl").write_text(RUN, encoding="utf-8")
    events = list(tool.events(folder, "test", "-verbose", "-filter=tests/planned.tftest.hcl"))

    made = [row["manifest"] for address, row in planned(events)["planned"].items() if "kubernetes_manifest" in address]
    assert sorted(made, key=_name) == sorted(_source(), key=_name)


def _source() -> list[dict[str, Any]]:
    files = [ROOT / "infra" / "admission.yaml", *OPTIONS.values()]
    texts = (filled(file, planner=PLANNER, drainer=DRAINER) for file in files)
    return [thing for text in texts for thing in yaml.safe_load_all(text) if thing["kind"].startswith("Validating")]


def _name(thing: dict[str, Any]) -> tuple[str, str]:
    return thing["kind"], thing["metadata"]["name"]


def test_every_option_can_be_named_and_nothing_else() -> None:
    text = (ROOT / "terraform" / "rbac" / "variables.tf").read_text(encoding="utf-8")
    (named,) = re.findall(r"setsubtract\(var\.optional_rights, (\[.*?\])\)", text)

    assert json.loads(named) == [*OPTIONS]
    assert all(f"{name}: " in text for name in OPTIONS), "the description says what each is"


Graph = Mapping[str, set[str]]
FIRST = ("google_project_service.", "data.google_project.")
"""What enables the APIs, and what is read before them."""


@pytest.fixture(scope="module")
def graph(tool: Terraform, module: Path) -> Graph:
    assert tool.init(module) is None
    told = tool.run(module, "graph", "-type=plan")
    assert told.returncode == 0, told.stderr
    edges = re.findall(r'^\s*"\[root\] ([^" ]+)[^\n]*" -> "\[root\] ([^" ]+)', told.stdout, re.MULTILINE)
    found: dict[str, set[str]] = {}
    for user, used in (edge for edge in edges if not any(name.startswith("provider[") for name in edge)):
        found.setdefault(user, set()).add(used)
    return found


def reached(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    rest = [start]
    while rest:
        found = graph.get(rest.pop(), set()) - seen
        seen |= found
        rest += found
    return seen


def of(graph: Graph, *kinds: str) -> list[str]:
    return sorted(name for name in graph if name.startswith(kinds))


def test_everything_of_google_waits_until_the_apis_answer(graph: Graph) -> None:
    late = [name for name in of(graph, "google_") if not name.startswith(FIRST)]

    assert len(late) > 20
    assert [name for name in late if "time_sleep.apis" not in reached(graph, name)] == []


@cases(
    "wait, kinds",
    ("builds wait for their roles", "time_sleep.roles", ("google_cloudfunctions2_function",)),
    ("alerts wait for their metrics", "time_sleep.metrics", ("google_monitoring_alert_policy.",)),
    ("Pub/Sub makes its agent meanwhile", "google_pubsub_topic.topics", ("time_sleep.roles",)),
    ("Pub/Sub's agent", "time_sleep.roles",
     ("google_service_account_iam_member.push_token", "google_pubsub_topic_iam_member.dead_letters",
      "google_pubsub_subscription_iam_member.dead_letters")),
    ("Cloud Storage's agent", "data.google_storage_project_service_account.storage",
     ("google_kms_crypto_key_iam_member.",)),
)  # fmt: skip
def test_who_needs_something_waits_for_it(graph: Graph, wait: str, kinds: tuple[str, ...]) -> None:
    found = of(graph, *kinds)

    assert found
    assert [name for name in found if wait not in reached(graph, name)] == []


def test_roles_that_a_build_or_a_first_call_needs_are_waited_for(graph: Graph) -> None:
    """All that are not given to what the functions' own existence makes: callers, the queue's agent, a key's users."""
    grants = {name for name in of(graph, "google_") if "_iam_member." in name}
    waited = reached(graph, "time_sleep.roles")
    callers = {"google_cloud_run_v2_service_iam_member.invokers"}
    queues = {f"google_pubsub_{kind}_iam_member.dead_letters" for kind in ("subscription", "topic")}

    assert grants - waited == callers | queues | {"google_service_account_iam_member.push_token"}


def test_every_wait_begins_again_when_what_it_waits_for_changes() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in MODULE.glob("*.tf"))
    waits = re.findall(r'^resource "time_sleep" "(\w+)" \{\n(.*?)^\}', text, re.MULTILINE | re.DOTALL)
    seconds = {name: int(re.search(r'create_duration = "(\d+)s"', body)[1]) for name, body in waits}  # type: ignore[index]

    assert seconds == {"apis": 90, "roles": 180, "metrics": 180}
    assert all(re.search(r"^  triggers +=", body, re.MULTILINE) for _, body in waits)
    assert "depends_on" not in dict(waits)["roles"], "it waits for what its triggers name, and for nothing else"
