"""Every failure of Google's clients has one of our names; the identity is found once, and waited for in a function."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import google.auth
import pytest
import requests
from google.api_core import exceptions as api
from google.auth import exceptions as auth
from google.auth.credentials import Credentials
from google.auth.exceptions import DefaultCredentialsError, RefreshError

from shared.adapters.compute import RegionCommitments
from shared.adapters.firestore import FirestoreState
from shared.adapters.gke import Endpoint, GkeCluster
from shared.adapters.google_failures import SCOPES, Service, found_credentials
from shared.adapters.kubernetes.access import from_google
from shared.adapters.pubsub import PubSubOrders
from shared.adapters.storage import BucketPolicy
from shared.core.policy.parsing import parse
from shared.errors import EbbError, Retryable, Stale, Terminal
from tests.depth import cases

SERVICE = Service("Firestore database ebb", "Check the role.")


@cases(
    "expected, guarded, error",
    ("not there", Retryable, Retryable, api.ServiceUnavailable),
    ("too slow", Retryable, Retryable, api.DeadlineExceeded),
    ("a fault of the service", Retryable, Retryable, api.InternalServerError),
    ("out of quota", Retryable, Retryable, api.ResourceExhausted),
    ("too much contention", Retryable, Stale, api.Aborted),
    ("somebody created it first", Retryable, Stale, api.AlreadyExists),
    ("retried until the time was over", Retryable, Retryable, partial(api.RetryError, cause=None)),
    ("metadata server out of reach", Retryable, Retryable, auth.TransportError),
    ("token not refreshed", Retryable, Retryable, auth.RefreshError),
    ("connection refused", Retryable, Retryable, requests.ConnectionError),
    ("socket timeout", Retryable, Retryable, TimeoutError),
    ("no permission", Terminal, Terminal, api.PermissionDenied),
    ("no valid identity", Terminal, Terminal, api.Unauthenticated),
    ("no such database, or somebody deleted the document", Terminal, Stale, api.NotFound),
    ("somebody wrote first", Terminal, Stale, api.FailedPrecondition),
    ("a request that will never be taken", Terminal, Terminal, api.InvalidArgument),
)
def test_a_failure_has_one_name_and_keeps_its_cause_and_a_lost_precondition_is_the_world_having_changed(
    expected: type[EbbError], guarded: type[EbbError], error: Any
) -> None:
    raised = error("x")

    with pytest.raises(expected, match="Firestore database ebb") as caught, SERVICE.naming_failures():
        raise raised
    with pytest.raises(guarded, match="Firestore database ebb"), SERVICE.naming_failures(guarded=True):
        raise raised

    assert caught.value.__cause__ is raised
    assert ("Check the role." in str(caught.value)) == (expected is Terminal)


LOG_IN = "run `gcloud auth application-default login`"
BY_GRPC = "Getting metadata from plugin failed with error: "
REVOKED = "invalid_grant: Bad Request"
NONE_FOUND = "Your default credentials were not found"


def revoked(text: str) -> Exception:
    return auth.RefreshError(text, {"error": "invalid_grant"})  # type: ignore[no-untyped-call]  # google's is untyped


@cases(
    "expected, error, text",
    ("a revoked login", f"({REVOKED})", revoked, REVOKED),
    ("an expired login", "(Ask again)", auth.RefreshError, "Ask again. Please run something."),
    ("one of gRPC", "(Ask again)", api.ServiceUnavailable, f"{BY_GRPC}Ask again. Please run it."),
    ("one that was retried until the time was over", f"({REVOKED})", partial(api.RetryError, cause=None),
     f"Timeout; {BY_GRPC}{REVOKED}"),
)  # fmt: skip
def test_a_lost_login_is_one_sentence_and_the_command_to_run_stands_next_to_it(
    expected: str, error: Any, text: str
) -> None:
    with pytest.raises(Retryable) as caught, SERVICE.naming_failures():
        raise error(text)
    assert str(caught.value).endswith(expected)
    assert caught.value.at_a_shell == f"if it is a person's, {LOG_IN}"


def test_without_an_identity_the_command_to_run_stands_next_to_the_sentence() -> None:
    with pytest.raises(Terminal) as caught, SERVICE.naming_failures():
        raise auth.DefaultCredentialsError(f"{NONE_FOUND}. To set up more, see https://x.")  # type: ignore[no-untyped-call]  # google's is untyped
    assert str(caught.value).endswith(NONE_FOUND)
    assert caught.value.at_a_shell.startswith(f"{LOG_IN}, or name a key")


def test_a_fault_of_our_own_is_not_renamed() -> None:
    with pytest.raises(KeyError), SERVICE.naming_failures():
        raise KeyError("x")


CLUSTER: Final = "projects/p/locations/europe-west4/clusters/c"
CLIENTS: Final[Mapping[str, Callable[[], object]]] = {
    "Firestore": lambda: FirestoreState("p", "d", CLUSTER).put,
    "Pub/Sub": lambda: PubSubOrders("projects/p/topics/t").publish,
    "Cloud Storage": lambda: BucketPolicy("b", "policy.yaml", parse).read,
    "Kubernetes": lambda: from_google(lambda: Endpoint("control.plane", None)).bearer,
    "GKE": lambda: GkeCluster(CLUSTER).read(),
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
    found_credentials.cache_clear()
    yield
    found_credentials.cache_clear()


@cases("expected, service", ("in a function", Retryable, "ebb"), ("not", Terminal, ""))
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
