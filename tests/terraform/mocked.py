"""A root of Terraform, applied against mocked providers: all that a plan can find wrong, without a cloud.

Must not judge the outputs.
"""

from pathlib import Path
from typing import Any

from tests.terraform.module_runs import Terraform, sentences

MOCKS = """
mock_provider "google" {{
  source = "{mocks}"
}}
mock_provider "archive" {{}}
mock_provider "kubernetes" {{}}
mock_provider "time" {{}}

run "walked" {{
  command = apply
}}
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


def outputs_of(tool: Terraform, root: Path, mocks: str, *given: str) -> dict[str, Any]:
    """Apply a root against mocked providers, with `-var` or `-var-file` and its word, and return its outputs.

    Raises:
        AssertionError: Terraform refused something; says what it said.
    """
    (root / "tests").mkdir(exist_ok=True)
    (root / "providers_override.tf").write_text(PROVIDERS, encoding="utf-8")
    failed = tool.init(root)
    assert failed is None, failed
    (root / "tests" / "walked.tftest.hcl").write_text(MOCKS.format(mocks=mocks), encoding="utf-8")
    events = list(tool.events(root, "test", "-verbose", "-filter=tests/walked.tftest.hcl", *given))
    assert not sentences(events), sentences(events)
    state = next(event["test_state"] for event in events if event["type"] == "test_state")
    return {name: each["value"] for name, each in state.get("outputs", {}).items()}
