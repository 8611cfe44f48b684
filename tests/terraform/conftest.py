"""Terraform for these tests: found or skipped once, initialised once for each worker."""

from pathlib import Path

import pytest

from tests.real.needs import require
from tests.terraform import module_runs
from tests.terraform.module_runs import Terraform

NO_PROVIDERS = (
    "Terraform finds no providers: EBB_TFMIRROR may name a folder with a mirror.sh that supplies their schemas, or "
    "the registry must be reachable"
)


@pytest.fixture(scope="session")
def values_tool(terraform: str) -> Terraform:
    return module_runs.without_providers(terraform)


@pytest.fixture(scope="session")
def tool(values_tool: Terraform) -> Terraform:
    try:
        return module_runs.with_providers(values_tool)
    except RuntimeError as failed:
        require(str(failed))
        raise


@pytest.fixture(scope="session")
def module(tool: Terraform, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = module_runs.copy_of_module(tmp_path_factory.mktemp("module"))
    failed = tool.init(folder)
    require(f"{NO_PROVIDERS}: {failed}" if failed else None)
    return folder
