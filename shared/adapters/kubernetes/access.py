"""The way into the cluster: a kubernetes Configuration with credentials that renew themselves.

From a kubeconfig, or from the GKE API and a Google token. The kubernetes package is imported here and in `client`
when first used: a dump needs none of it.
"""

import hashlib
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Protocol

from shared.adapters.clock import system_time
from shared.adapters.gke import Endpoint
from shared.adapters.google_failures import Service
from shared.adapters.kubernetes.plugin import no_credentials, root_messages
from shared.errors import BadSettings

SCOPES: Final = (
    "https://www.googleapis.com/auth/cloud-platform",
    "https://www.googleapis.com/auth/userinfo.email",
)
"""Without userinfo.email the cluster may know the service account by its numeric id only, which RBAC does not name."""
_RENEW_BEFORE: Final = timedelta(minutes=5)
_IDENTITY: Final = Service("Google token", "Check that the function's service account exists and is enabled.")
_KUBECTLS_OWN: Final = "~/.kube/config"
_CONNECTIONS: Final = 32
"""More than the evictions that run in parallel, so that none waits for a connection."""


def _has_not_moved() -> None:
    """Of a kubeconfig: what it says of the address is the person's."""


@dataclass(frozen=True)
class Access:
    """A Configuration of the kubernetes package, and how to get fresh credentials into it."""

    configuration: Any
    renew: Callable[[], None]
    find_again: Callable[[], "Access | None"] = _has_not_moved
    """Look for the cluster once more: the access to where it is now, None where that has not changed."""


class Credentials(Protocol):
    """What we use of google-auth's credentials; `expiry` is UTC without a zone there."""

    token: str | None
    expiry: datetime | None

    def refresh(self, request: Any) -> None: ...


def from_kubeconfig(path: str, context: str | None = None) -> Access:
    """Return the access that a kubeconfig describes; an empty path means kubectl's own place.

    Raises:
        BadSettings: the file cannot be read, or describes no such context.
        Retryable: its credential plugin gives no credentials; the sentence says what to run.
    """
    configuration = _configuration()
    load = partial(_load_kubeconfig, configuration, path, context)
    load()
    return Access(configuration, load)


def kubeconfig_named(path: str) -> str:
    """Return how a sentence names a kubeconfig; an empty path means kubectl's own place."""
    from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION

    if path or KUBE_CONFIG_DEFAULT_LOCATION == _KUBECTLS_OWN:
        return path or f"{_KUBECTLS_OWN} (kubectl's own place)"
    return f"{KUBE_CONFIG_DEFAULT_LOCATION} (KUBECONFIG)"


def _load_kubeconfig(configuration: Any, path: str, context: str | None) -> None:
    from kubernetes.config import ConfigException, load_kube_config
    from yaml import YAMLError

    try:
        with root_messages() as complaints:
            load_kube_config(  # type: ignore[no-untyped-call]  # the package types only a part of itself
                path or None, context, client_configuration=configuration, persist_config=False
            )
    except (ConfigException, YAMLError, OSError, ValueError, TypeError, KeyError, AttributeError) as fault:
        raise BadSettings(
            f"{kubeconfig_named(path)}: cannot be used ({fault}); try `kubectl config view` with it."
        ) from fault
    if complaints:
        raise no_credentials(path, context, complaints[0])


def from_gke(
    endpoint: Endpoint,
    credentials: Credentials,
    request: Callable[[], Any],
    now: Callable[[], datetime],
    find: Callable[[], Endpoint] | None = None,
) -> Access:
    """Return the access to a GKE cluster with a Google token.

    `request` makes google-auth's transport for a refresh, `find` asks the GKE API where the cluster is by now. The
    cluster's CA stands in a temporary file for the life of the instance; an endpoint without CA (the DNS endpoint) is
    checked against the system's.
    """

    def find_again() -> Access | None:
        moved = find() if find else endpoint
        return None if moved == endpoint else from_gke(moved, credentials, request, now, find)

    configuration = _configuration()
    configuration.host = f"https://{endpoint.host}"
    if endpoint.ca_pem:
        configuration.ssl_ca_cert = _ca_file(endpoint.ca_pem)
    hook = TokenHook(credentials, request, now)
    # The client asks the hook only where a key stands already; `authorization` is its name in version 34 and an alias
    # of BearerToken in 37.
    configuration.api_key["authorization"] = "not yet asked for"
    configuration.api_key_prefix["authorization"] = "Bearer"
    configuration.refresh_api_key_hook = hook
    return Access(configuration, partial(hook.renew, configuration), find_again)


def from_google(find: Callable[[], Endpoint]) -> Access:
    """Return the access to a GKE cluster as the identity that this process runs under; `find` says where it is.

    Raises:
        Retryable, BadSettings: as `find`.
        Terminal: there is no such identity.
    """
    import google.auth
    from google.auth.transport.requests import Request

    endpoint = find()
    with _IDENTITY.naming_failures():
        credentials, _ = google.auth.default(scopes=SCOPES)
    return from_gke(endpoint, credentials, Request, system_time, find)


class TokenHook:
    """Puts a valid token into the Configuration before each call; calls run in parallel, refreshes one at a time."""

    def __init__(self, credentials: Credentials, request: Callable[[], Any], now: Callable[[], datetime]) -> None:
        self._credentials = credentials
        self._request = request
        self._now = now
        self._lock = threading.Lock()

    def __call__(self, configuration: Any) -> None:
        with self._lock:
            if self._stale():
                self._refresh()
            configuration.api_key["authorization"] = self._credentials.token

    def renew(self, configuration: Any) -> None:
        """Fetch a new token although the old one looked valid: the cluster refused it."""
        with self._lock:
            self._refresh()
            configuration.api_key["authorization"] = self._credentials.token

    def _stale(self) -> bool:
        expiry = self._credentials.expiry
        if not self._credentials.token:
            return True
        return expiry is not None and expiry.replace(tzinfo=UTC) - self._now() < _RENEW_BEFORE

    def _refresh(self) -> None:
        with _IDENTITY.naming_failures():
            self._credentials.refresh(self._request())


def _configuration() -> Any:
    from kubernetes.client import Configuration

    configuration = Configuration()
    configuration.retries = 0
    configuration.connection_pool_maxsize = _CONNECTIONS
    return configuration


@cache
def _ca_file(pem: str) -> str:
    """Return a file of this process with the certificate: the client reads it for each connection pool."""
    file = Path(_folder().name) / f"{hashlib.sha256(pem.encode()).hexdigest()[:16]}.pem"
    file.write_text(pem)
    return str(file)


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    """Return a folder that goes with this process."""
    return tempfile.TemporaryDirectory(prefix="ebb-ca-")
