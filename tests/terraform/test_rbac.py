"""The submodule rbac makes the admission policies, also those of options, that are tried on a real control plane."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.rights.rbac import OPTIONS, filled
from tests.terraform.module_runs import ROOT, Terraform, planned

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
    return [each for text in texts for each in yaml.safe_load_all(text) if each["kind"].startswith("Validating")]


def _name(each: dict[str, Any]) -> tuple[str, str]:
    return each["kind"], each["metadata"]["name"]


def test_every_option_can_be_named_and_nothing_else() -> None:
    text = (ROOT / "terraform" / "rbac" / "variables.tf").read_text(encoding="utf-8")
    (named,) = re.findall(r"setsubtract\(var\.optional_rights, (\[.*?\])\)", text)

    assert json.loads(named) == [*OPTIONS]
    assert all(f"{name}: " in text for name in OPTIONS), "the description says what each is"
