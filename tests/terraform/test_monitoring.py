"""What people see of Ebb, as Terraform makes it: valid, and from the very files that the tables are written to."""

import re
from pathlib import Path

import pytest

from infra.monitoring.__main__ import files
from tests.terraform.module_runs import MODULE, Terraform


@pytest.mark.acceptance(107)
def test_dashboard_alerts_and_metrics_are_valid_terraform(tool: Terraform, module: Path) -> None:
    done = tool.run(module, "validate", "-no-color")

    assert done.returncode == 0, done.stderr


def test_terraform_reads_the_generated_files_and_no_copy_of_them() -> None:
    text = (MODULE / "monitoring.tf").read_text(encoding="utf-8")

    read = set(re.findall(r"/infra/([\w.]+)", text))
    assert read == {"metrics.yaml", "alerts.yaml", "dashboard.json"}
    assert read <= {path.name for path in files()}
