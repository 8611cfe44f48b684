"""The way into the cluster: its address, the TLS that checks it, and a token that renews itself.

From a kubeconfig, or from the GKE API and a Google token. TLS and HTTP are imported when first used: a dump needs none.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from shared.adapters.clock import system_time
from shared.adapters.gke import Endpoint
from shared.adapters.google_failures import Service, identity
from shared.adapters.kubernetes.kubeconfig import KubeconfigFiles, Login
from shared.errors import BadSettings

if TYPE_CHECKING:
    from ssl import SSLContext

_RENEW_BEFORE: Final = timedelta(minutes=5)
_IDENTITY: Final = Service("Google token", "Check that the function's service account exists and is enabled.")

Header: TypeAlias = tuple[str, datetime | None]
"""The value of the Authorization header, empty for none, and when it expires."""


class GoogleCredentials(Protocol):
    """What we use of google-auth's credentials; `expiry` is UTC without a zone there."""

    token: str | None
    expiry: datetime | None

    def refresh(self, request: Any) -> None: ...


class Bearer:
    """The Authorization header, renewed before it expires; calls run in parallel, renewals one at a time."""

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


def _has_not_moved() -> None:
    """Of a kubeconfig: a person wrote the address."""


@dataclass(frozen=True)
class Access:
    """Where the API server is, how it is checked (`name` where its certificate is not of the address), who asks."""

    server: str
    bearer: Bearer
    tls: "SSLContext | None" = None
    name: str = ""
    proxy: str = ""
    find_again: Callable[[], "Access | None"] = _has_not_moved
    """Look for the cluster once more: the access to where it is now, None where that has not changed."""


def from_kubeconfig(path: str, context: str | None = None) -> Access:
    """Return the access that a kubeconfig describes; an empty path means kubectl's own place.

    Raises:
        BadSettings: the file cannot be read, or describes no such context.
        Retryable: its credential plugin gives no credentials; the sentence names the command to run.
    """

    def log_in() -> Login:
        return KubeconfigFiles(path).login(context)

    def again() -> Header:
        credentials = log_in().credentials
        return credentials.authorization, credentials.expires

    login = log_in()
    proof = login.credentials
    try:
        tls = _tls(login.ca, proof.certificate + proof.key, is_checked=login.is_checked)
    except (OSError, ValueError) as fault:
        raise BadSettings(f"{path or 'kubeconfig'}: cannot be used (a certificate or key is not PEM).") from fault
    bearer = Bearer(again, first=(proof.authorization, proof.expires))
    return Access(login.server, bearer, tls, login.name, login.proxy or _proxy(login.server))


def from_gke(
    endpoint: Endpoint,
    credentials: GoogleCredentials,
    request: Callable[[], Any],
    now: Callable[[], datetime],
    find: Callable[[], Endpoint] | None = None,
) -> Access:
    """Return the access to a GKE cluster with a Google token.

    `request` makes google-auth's transport for a refresh, `find` asks the GKE API where the cluster is by now. An
    endpoint without CA (the DNS endpoint) is checked against the system's.
    """

    def find_again() -> Access | None:
        moved = find() if find else endpoint
        return None if moved == endpoint else from_gke(moved, credentials, request, now, find)

    def fetch() -> Header:
        with _IDENTITY.naming_failures():
            credentials.refresh(request())
        return f"Bearer {credentials.token}", credentials.expiry and credentials.expiry.replace(tzinfo=UTC)

    server = f"https://{endpoint.host}"
    tls = _tls(endpoint.ca_pem or "")
    return Access(server, Bearer(fetch, now), tls, proxy=_proxy(server), find_again=find_again)


def from_google(find: Callable[[], Endpoint]) -> Access:
    """Return the access to a GKE cluster as the identity that this process runs under; `find` returns its endpoint.

    Raises:
        Retryable, BadSettings: as `find`.
        Terminal: there is no such identity; in a function Retryable, for its own may come late.
    """
    from google.auth.transport.requests import Request

    endpoint = find()
    with _IDENTITY.naming_failures():
        credentials = identity()
    return from_gke(endpoint, credentials, Request, system_time, find)


def _tls(ca: str, shown: str = "", *, is_checked: bool = True) -> "SSLContext":
    """Return what checks a server by a CA, the system's own if it is empty, and shows a certificate with its key.

    It checks name, chain and expiry as kubectl does, and alike on every Python: by itself one from 3.13 on refuses old
    clusters, whose certificates identify no keys (VERIFY_X509_STRICT; kubernetes-client/python#2394).

    Raises:
        OSError, ValueError: one of them is no PEM.
    """
    import ssl

    from urllib3.util import create_urllib3_context

    context = create_urllib3_context()
    context.verify_flags = ssl.VERIFY_X509_TRUSTED_FIRST | ssl.VERIFY_X509_PARTIAL_CHAIN
    if not is_checked:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif ca:
        context.load_verify_locations(cadata=ca)
    else:
        context.load_default_certs()
    if shown:
        # OpenSSL reads a key from a file alone; it is gone as soon as it is read.
        with TemporaryDirectory(prefix="ebb-") as folder:
            file = Path(folder) / "shown.pem"
            file.touch(mode=0o600)
            file.write_text(shown, encoding="ascii")
            context.load_cert_chain(file)
    return context


def _proxy(server: str) -> str:
    """Return the proxy that the environment names for an address; networks in no_proxy count, as for kubectl."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies_environment, proxy_bypass

    address = urlsplit(server)
    networks = (os.environ.get("no_proxy") or os.environ.get("NO_PROXY", "")).split(",")
    if proxy_bypass(address.netloc) or any(_holds(each.strip(), address.hostname) for each in networks):
        return ""
    return getproxies_environment().get(address.scheme, "")


def _holds(network: str, host: str | None) -> bool:
    from ipaddress import ip_address, ip_network

    try:
        return ip_address(host or "") in ip_network(network, strict=False)
    except ValueError:
        return False
