"""The port `PolicySource`: the policy's bytes from a bucket's object or a file, read again at each call.

Asks the JSON API itself, for one object and nothing else: since 3.11 google-cloud-storage also asks for the
bucket's metadata from a background thread, without the permission and over the same connection, which
fills audit logs and breaks calls on Cloud Run (googleapis/google-cloud-python#17650, #18116).
`STORAGE_EMULATOR_HOST` replaces the real service, without credentials. Parsing is handed in. No
policy is kept: what people changed counts at the next read.
"""

import os
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from shared.adapters.google_failures import CALL_SECONDS, FIRST_WAIT, LONGEST_WAIT, Service
from shared.core.policy import Policy
from shared.core.policy.values import MOST_POLICY_BYTES
from shared.errors import BadPolicy, Retryable, Terminal

Parse = Callable[[bytes], Policy]

_ADDRESS: Final = "https://storage.googleapis.com"
_SCOPE: Final = "https://www.googleapis.com/auth/devstorage.read_only"


class FilePolicy:
    """A policy in a file."""

    def __init__(self, path: str, parse: Parse) -> None:
        self._path = Path(path)
        self._parse = parse

    def read(self) -> Policy:
        """Read and parse. Raises BadPolicy, Terminal when the file may not be read, Retryable on an I/O error."""
        return self._parse(_check_size(self._read_bytes(), f"policy {self._path}"))

    def _read_bytes(self) -> bytes:
        try:
            with self._path.open("rb") as file:
                return file.read(MOST_POLICY_BYTES + 1)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise BadPolicy(f"policy {self._path}: no such file; write one, or correct EBB_POLICY.") from error
        except PermissionError as error:
            raise Terminal(f"policy {self._path}", "may not be read by this user.") from error
        except OSError as error:
            raise Retryable(f"policy {self._path}", str(error)) from error


class BucketPolicy:
    """A policy in an object of Cloud Storage. Safe for threads."""

    def __init__(self, bucket: str, name: str, parse: Parse, call_seconds: float = CALL_SECONDS) -> None:
        """Find an identity.

        Raises:
            Terminal: there is no identity to ask with.
        """
        from google.api_core.retry import Retry, if_transient_error

        self._name = f"policy gs://{bucket}/{name}"
        self._parse = parse
        self._service = Service(self._name, "Grant this identity roles/storage.objectViewer on the bucket.")
        stand_in = os.environ.get("STORAGE_EMULATOR_HOST", "")
        self._address = f"{stand_in or _ADDRESS}/storage/v1/b/{quote(bucket, safe='')}/o/{quote(name, safe='')}"
        with self._service.naming_failures():
            self._credentials = _credentials(anonymous=bool(stand_in))
        self._seconds = call_seconds
        self._patiently = Retry(if_transient_error, FIRST_WAIT, LONGEST_WAIT, timeout=call_seconds)

    def read(self) -> Policy:
        """Read and parse. Raises BadPolicy, Terminal when the object may not be read, Retryable on an outage."""
        with self._service.naming_failures():
            data = self._patiently(self._read_bytes)()
        return self._parse(_check_size(data, self._name))

    def _read_bytes(self) -> bytes:
        from google.api_core.exceptions import from_http_response
        from google.auth.transport.requests import AuthorizedSession

        with AuthorizedSession(self._credentials) as session:  # type: ignore[no-untyped-call]  # google's is untyped
            part = {"Range": f"bytes=0-{MOST_POLICY_BYTES}"}
            answer = session.get(self._address, params={"alt": "media"}, headers=part, timeout=self._seconds)
        if answer.status_code == HTTPStatus.NOT_FOUND:
            raise BadPolicy(f"{self._name}: no such object; upload it, or correct EBB_POLICY.")
        if answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return b""  # how the service answers when asked for a part of an empty object
        if not answer.ok:
            raise from_http_response(answer)  # type: ignore[no-untyped-call]  # google's is untyped
        return bytes(answer.content)


def _credentials(*, anonymous: bool) -> Any:
    import google.auth
    from google.auth.credentials import AnonymousCredentials

    if anonymous:
        return AnonymousCredentials()  # type: ignore[no-untyped-call]  # google's is untyped
    return google.auth.default(scopes=[_SCOPE])[0]


def _check_size(data: bytes, name: str) -> bytes:
    if len(data) > MOST_POLICY_BYTES:
        raise BadPolicy(f"{name}: larger than {MOST_POLICY_BYTES // 1024} KiB; EBB_POLICY must name a policy document.")
    return data
