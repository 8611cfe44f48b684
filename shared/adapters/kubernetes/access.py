"""The way into the cluster: the official client's configuration, the TLS that checks it, a token that renews itself.

The client, TLS and HTTP are imported when first used: a dump needs none.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from shared.adapters.gke import Endpoint
from shared.adapters.google_failures import Service, shared_credentials
from shared.adapters.process import system_time

if TYPE_CHECKING:
    from ssl import SSLContext

    from kubernetes.client import Configuration

_RENEW_BEFORE: Final = timedelta(minutes=5)
_IDENTITY: Final = Service("Google token", "Check that the function's service account exists and is enabled.")

Header: TypeAlias = tuple[str, datetime | None]
"""The value of the Authorization header, empty for none, and when it expires."""


class Bearer:
    """The Authorization header, renewed before it expires; calls run in parallel, renewals one at a time."""

    # The client's own hook renews nothing after a 401, and only logs that a credential plugin failed.
    def __init__(
        self, fetch: Callable[[], Header], now: Callable[[], datetime] = system_time, first: Header | None = None
    ) -> None:
        self._fetch = fetch
        self._now = now
        self._held = first
        self._lock = threading.Lock()

    def header(self) -> str:
        """Return what to send. Raises what fetching raises."""
        with self._lock:
            value, expires = self._held or ("", self._now())
            if expires is not None and expires - self._now() < _RENEW_BEFORE:
                self._held = value, _ = self._fetch()
            return value

    def renew(self) -> None:
        """Fetch another although the old one looked valid: the cluster refused it."""
        with self._lock:
            self._held = self._fetch()


@dataclass(frozen=True)
class Access:
    """Where the API server is, with its proxy and the name in its certificate; how it is checked; who asks."""

    configuration: "Configuration"
    bearer: Bearer
    tls: "SSLContext | None" = None
    find_again: Callable[[], "Access | None"] = lambda: None
    """Look for the cluster once more: None where it has not moved, as of a kubeconfig, where a person wrote where."""


def from_gke(
    endpoint: Endpoint,
    credentials: Any,
    request: Callable[[], Any],
    now: Callable[[], datetime],
    find: Callable[[], Endpoint] | None = None,
) -> Access:
    """Return the access to a GKE cluster with a Google token.

    `credentials` are google-auth's (`expiry` is UTC without a zone there), `request` makes its transport for a refresh,
    `find` asks the GKE API where the cluster is by now. The DNS endpoint, without CA, is checked against the system's.
    """
    from kubernetes.client import Configuration

    def find_again() -> Access | None:
        moved = find() if find else endpoint
        return None if moved == endpoint else from_gke(moved, credentials, request, now, find)

    def fetch() -> Header:
        with _IDENTITY.naming_failures():
            credentials.refresh(request())
        return f"Bearer {credentials.token}", credentials.expiry and credentials.expiry.replace(tzinfo=UTC)

    configuration = Configuration(host=f"https://{endpoint.host}", ca_cert_data=endpoint.ca_pem)
    return Access(configuration, Bearer(fetch, now), take_trust(configuration), find_again)


def from_google(find: Callable[[], Endpoint]) -> Access:
    """Return the access as this process's identity. Raises as `find`, and as `RestReader` without an identity."""
    from google.auth.transport.requests import Request

    endpoint = find()
    with _IDENTITY.naming_failures():
        credentials = shared_credentials()
    return from_gke(endpoint, credentials, Request, system_time, find)


def take_trust(configuration: "Configuration") -> "SSLContext":
    """Take out of a configuration what checks a server (a CA, or the system's) and what is shown to it.

    It checks name, chain and expiry as kubectl does, and alike on every Python: by itself one from 3.13 on refuses old
    clusters, whose certificates identify no keys (VERIFY_X509_STRICT; kubernetes-client/python#2394). What was in files
    is read here, so that they may go. Raises OSError, ValueError for what is no PEM.
    """
    import ssl

    from urllib3.util import create_urllib3_context

    context = create_urllib3_context()
    context.verify_flags = ssl.VERIFY_X509_TRUSTED_FIRST | ssl.VERIFY_X509_PARTIAL_CHAIN
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif configuration.ssl_ca_cert or configuration.ca_cert_data:
        context.load_verify_locations(configuration.ssl_ca_cert, cadata=configuration.ca_cert_data)
    else:
        context.load_default_certs()
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    configuration.ssl_ca_cert = configuration.ca_cert_data = configuration.cert_file = configuration.key_file = None
    return context
