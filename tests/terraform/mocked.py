"""A root of Terraform, applied against mocked providers: all that a plan can find wrong, without a cloud."""

import re
from pathlib import Path
from typing import Any

from tests.terraform.module_runs import Terraform, planned, sentences

MOCKS = """
mock_provider "google" {{
  source = "{mocks}"
}}
mock_provider "archive" {{}}
mock_provider "kubernetes" {{}}
mock_provider "time" {{}}

run "walked" {{
  command = {command}
{options}}}
"""
# Only a provider that the root itself requires can be mocked below it.
PROVIDERS = """
terraform {
  required_providers {
    archive    = { source = "hashicorp/archive" }
    google     = { source = "hashicorp/google" }
    kubernetes = { source = "hashicorp/kubernetes" }
    time       = { source = "hashicorp/time" }
  }
}
"""


def outputs_of(tool: Terraform, root: Path, mocks: str, *given: str, target: str = "") -> dict[str, Any]:
    """Apply a root against mocked providers, with `-var` or `-var-file` and its word, and return its outputs.

    With a target that alone is applied, and what it rests on.

    Raises:
        AssertionError: Terraform refused something; says what it said.
    """
    events = _events(tool, root, mocks, "apply", target, *given)
    state = next(event["test_state"] for event in events if event["type"] == "test_state")
    return {name: output["value"] for name, output in state.get("outputs", {}).items()}


def plan_of(tool: Terraform, root: Path, mocks: str, *given: str) -> dict[str, dict[str, Any]]:
    """Return by address the attributes that are known in a plan. Raises as `outputs_of`."""
    return planned(_events(tool, root, mocks, "plan", "", *given))["walked"]


def _events(tool: Terraform, root: Path, mocks: str, command: str, target: str, *given: str) -> list[dict[str, Any]]:
    (root / "tests").mkdir(exist_ok=True)
    (root / "providers_override.tf").write_text(PROVIDERS, encoding="utf-8")
    failed = tool.init(root)
    assert failed is None, failed
    options = f"  plan_options {{\n    target = [{target}]\n  }}\n" if target else ""
    aliases = re.findall(r'^  alias = "(\w+)"', (root / "main.tf").read_text(encoding="utf-8"), re.MULTILINE)
    text = MOCKS.format(mocks=mocks, command=command, options=options)
    text += "".join(f'mock_provider "kubernetes" {{\n  alias = "{alias}"\n}}\n' for alias in aliases)
    (root / "tests" / "walked.tftest.hcl").write_text(text, encoding="utf-8")
    events = list(tool.events(root, "test", "-verbose", "-filter=tests/walked.tftest.hcl", *given))
    assert not sentences(events), sentences(events)
    return events
