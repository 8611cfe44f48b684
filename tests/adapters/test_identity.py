"""Who this process is to Google's services: found once for all clients, and waited for in a function."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import google.auth
import pytest
from google.auth.credentials import Credentials
from google.auth.exceptions import DefaultCredentialsError, RefreshError

from shared.adapters.compute import RegionCommitments
from shared.adapters.firestore import FirestoreState
from shared.adapters.gke import Endpoint, GkeCluster
from shared.adapters.google_failures import SCOPES, found_identity
from shared.adapters.kubernetes.access import from_google
from shared.adapters.pubsub import PubSubOrders
from shared.adapters.storage import BucketPolicy
from shared.core.policy.parsing import parse
from shared.errors import EbbError, Retryable, Terminal

CLUSTER: Final = "projects/p/locations/europe-west4/clusters/c"
CLIENTS: Final[Mapping[str, Callable[[], object]]] = {
    "Firestore": lambda: FirestoreState("p", "d", CLUSTER).put,
    "Pub/Sub": lambda: PubSubOrders("projects/p/topics/t").publish,
    "Cloud Storage": lambda: BucketPolicy("b", "policy.yaml", parse).read,
    "Kubernetes": lambda: from_google(lambda: Endpoint("control.plane", None, "dns")).bearer,
    "GKE": lambda: GkeCluster(CLUSTER).describe(),
    "Compute": lambda: RegionCommitments(CLUSTER).read(),
}


class NoTokens(Credentials):
    """An identity whose tokens cannot be fetched."""

    def refresh(self, request: Any) -> None:
        del request
        raise RefreshError("no token")  # type: ignore[no-untyped-call]  # google's is untyped


class Searches:
    """Stands in for google.auth.default: the metadata server that it asks is late for some searches."""

    def __init__(self, late: int = 0) -> None:
        self.scopes: list[Any] = []
        self._late = late

    def __call__(self, scopes: Any = None, **others: Any) -> tuple[Credentials, str]:
        del others
        self.scopes.append(scopes)
        if len(self.scopes) <= self._late:
            raise DefaultCredentialsError("None found. See a page.")  # type: ignore[no-untyped-call]  # as above
        return NoTokens(), "p"  # type: ignore[no-untyped-call]  # as above


@pytest.fixture(autouse=True)
def nothing_found_yet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for emulator in ("FIRESTORE_EMULATOR_HOST", "PUBSUB_EMULATOR_HOST", "STORAGE_EMULATOR_HOST", "no_proxy"):
        monkeypatch.delenv(emulator, raising=False)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # no call leaves this machine
    found_identity.cache_clear()
    yield
    found_identity.cache_clear()


@pytest.mark.parametrize(
    ("expected", "service"), [pytest.param(Retryable, "ebb", id="in a function"), pytest.param(Terminal, "", id="not")]
)
@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_metadata_server_that_is_late_is_an_outage_in_a_function_alone(
    expected: type[EbbError], service: str, client: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(google.auth, "default", Searches(late=1))
    if service:
        monkeypatch.setenv("K_SERVICE", service)

    with pytest.raises(expected, match="None found") as fault:
        client()

    assert fault.value.everywhere
    assert bool(fault.value.at_a_shell) is (expected is Terminal)


def test_an_instance_searches_until_it_has_an_identity_and_then_all_its_clients_share_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searches = Searches(late=2)
    monkeypatch.setattr(google.auth, "default", searches)
    monkeypatch.setenv("K_SERVICE", "ebb")

    for client in [*CLIENTS.values()] * 2:
        try:
            client()
        except Retryable:
            continue

    assert searches.scopes == [SCOPES] * 3
