"""What a real API server makes of infra's files is what `ebb doctor` takes for this version's."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from functions.cli.doctor.rights import PolicyCheck, admission_policies, roles
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.discovery import AccessReviews
from shared.adapters.kubernetes.kubeconfig import from_kubeconfig
from shared.errors import Forbidden
from tests.cli.doctor.standing import keyed
from tests.cli.doctor.test_doctor import FakeReviews
from tests.real.control_plane import ControlPlane
from tests.real.least_rights import FENCE, filled_by_hand
from tests.rights.rbac import FILE, OPTIONS

pytestmark = pytest.mark.control_plane
ALL_WELL = PolicyCheck((), ())


def reviews_of(kubeconfig: Path) -> AccessReviews:
    return AccessReviews(KubernetesClient(from_kubeconfig(str(kubeconfig))))


@pytest.mark.parametrize("file", [pytest.param(path, id=path.name) for path in (FENCE, FILE, *OPTIONS.values())])
def test_what_the_api_server_makes_of_a_file_is_this_versions(twenty_nodes: ControlPlane, file: Path) -> None:
    """Asked as a dry run, for other tests apply options in the name of users of their own."""
    words = ("apply", "--dry-run=server", "-o", "json", "-f", "-")
    held = keyed(json.loads(twenty_nodes.kubectl(*words, stdin=filled_by_hand(file)))["items"])
    reviews = FakeReviews(policies=frozenset(name for _, name in held), held=held)
    name = str(file.relative_to(FILE.parent))

    assert admission_policies("admission", name, reviews) == ALL_WELL
    assert list(roles("admission", name, reviews)) == []


def test_what_stands_is_read_by_a_person_and_hidden_from_the_functions(
    twenty_nodes: ControlPlane, kubeconfigs: Mapping[str, Path]
) -> None:
    person, drainer = reviews_of(twenty_nodes.kubeconfig), reviews_of(kubeconfigs["drain"])

    assert admission_policies("admission", "admission.yaml", person) == ALL_WELL
    assert list(roles("admission", "rbac.yaml", person)) == []
    with pytest.raises(Forbidden):
        admission_policies("admission", "admission.yaml", drainer)
    with pytest.raises(Forbidden):
        list(roles("admission", "rbac.yaml", drainer))
