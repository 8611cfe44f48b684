"""Each example is applied against mocked providers, in each of its forms."""

from pathlib import Path

import pytest

from shared.core.policy.parsing import parse
from tests.terraform.mocked import outputs_of
from tests.terraform.module_runs import MODULE, Terraform

PRIVATE = ("-var", "project=my-project", "-var", 'cluster={name="prod",location="europe-west1-b"}')
FORMS = [
    pytest.param("private-cluster", PRIVATE, id="a private cluster by its DNS endpoint"),
    pytest.param("private-cluster", (*PRIVATE, "-var", "through=connector", "-var", "subnet=s"), id="by a connector"),
    pytest.param("fleet/one-state", ("-var", "project=my-project"), id="a fleet in one state"),
    *(
        pytest.param("fleet", (f"-var-file=clusters/{path.name}",), id=f"a state for {path.stem}")
        for path in sorted((MODULE / "examples" / "fleet" / "clusters").glob("*.tfvars"))
    ),
]


@pytest.mark.parametrize(("folder", "given"), FORMS)
def test_an_example_can_be_planned_and_applied(
    tool: Terraform, module: Path, folder: str, given: tuple[str, ...]
) -> None:
    root = module / "examples" / folder
    found = outputs_of(tool, root, "/".join([*[".."] * len(root.relative_to(module).parts), "tests/mocks"]), *given)[
        "ebb"
    ]
    installed = [found] if "policy" in found else list(found.values())

    assert installed
    for each in installed:
        assert parse(each["policy"].encode()).pools["default-pool"].enabled
    assert len({each["name"] for each in installed}) == len(installed)


def test_a_cluster_that_is_paused_says_so_in_its_policy(tool: Terraform, module: Path) -> None:
    root = module / "examples" / "fleet"
    found = outputs_of(tool, root, "../../tests/mocks", "-var-file=clusters/prod-north.tfvars")["ebb"]

    assert parse(found["policy"].encode()).paused
