"""The submodule rbac makes the very objects that are tried on a real control plane: those of infra/admission.yaml."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.terraform.module_runs import ROOT, Terraform, planned

DRAINER = "drainer@my-project.iam.gserviceaccount.com"
RUN = f"""
mock_provider "kubernetes" {{}}

run "planned" {{
  command = plan

  variables {{
    planner = "planner@my-project.iam.gserviceaccount.com"
    drainer = "{DRAINER}"
  }}
}}
"""


@pytest.mark.acceptance(108)
def test_the_submodule_makes_the_fence_as_it_was_tried(tool: Terraform, module: Path) -> None:
    folder = module / "rbac"
    assert tool.init(folder) is None
    (folder / "tests" / "planned.tftest.hcl").write_text(RUN, encoding="utf-8")
    events = list(tool.events(folder, "test", "-verbose", "-filter=tests/planned.tftest.hcl"))

    made = [row["manifest"] for address, row in planned(events)["planned"].items() if "kubernetes_manifest" in address]
    assert sorted(made, key=_name) == sorted(_source(), key=_name)


def _source() -> list[dict[str, Any]]:
    text = (ROOT / "infra" / "admission.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load_all(text.replace("${drainer}", DRAINER)))


def _name(each: dict[str, Any]) -> tuple[str, str]:
    return each["kind"], each["metadata"]["name"]
