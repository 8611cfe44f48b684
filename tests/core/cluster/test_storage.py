from datetime import timedelta

import pytest

from shared.core.cluster.pod import Volume
from shared.core.cluster.storage import LISTS, Storage, claim_keys
from tests.builders import NOW, mounts, pod, storage, storage_class, volume_claim


def test_a_storage_that_was_not_read_is_not_known() -> None:
    assert Storage().unread == LISTS
    assert not Storage().known
    assert storage(volume_claim("data")).known


def test_a_pods_claims_are_those_it_names_and_those_made_for_it() -> None:
    volumes = (*mounts("data"), Volume("scratch", "ephemeral"), Volume("tmp", "emptyDir"))

    assert list(claim_keys(pod("web-0", volumes=volumes))) == ["default/data", "default/web-0-scratch"]


@pytest.mark.parametrize(
    ("expected", "since"),
    [
        pytest.param("", {"a": None}, id="there is none"),
        pytest.param("b", {"a": None, "b": NOW}, id="one of several"),
        pytest.param("b", {"a": NOW, "b": NOW + timedelta(days=1)}, id="of two the newest"),
        pytest.param("a", {"a": NOW, "b": NOW}, id="of two of one age the first by name"),
    ],
)
def test_the_default_class_is_the_one_that_admission_takes(expected: str, since: dict[str, object]) -> None:
    classes = {name: storage_class(name, default_since=at) for name, at in since.items()}

    assert Storage(classes=classes).default_class == expected
