"""The port `PolicySource`: the policy's bytes from a bucket's object or a file, read again at each call.

It asks the JSON API itself: since 3.11 google-cloud-storage also asks for the bucket's metadata, from another thread
and without the right (googleapis/google-cloud-python#17650, #18116). `STORAGE_EMULATOR_HOST` stands in for the service.
"""

import os
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote

from shared.adapters.google_failures import CALL_SECONDS, RestReader, Service
from shared.core.policy import Policy
from shared.core.policy.values import MOST_POLICY_BYTES
from shared.errors import BadPolicy, Retryable, Terminal

Parse = Callable[[bytes], Policy]

_ADDRESS: Final = "https://storage.googleapis.com"
_EMPTY: Final = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
"""How the service answers when asked for a part of an empty object."""


class FilePolicy:
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
        """Find an identity. Raises Terminal without one; in a function Retryable, for its own may come late."""
        self._name = f"policy gs://{bucket}/{name}"
        self._parse = parse
        service = Service(self._name, "Grant this identity roles/storage.objectViewer on the bucket.")
        stand_in = os.environ.get("STORAGE_EMULATOR_HOST", "")
        self._address = f"{stand_in or _ADDRESS}/storage/v1/b/{quote(bucket, safe='')}/o/{quote(name, safe='')}"
        self._reader = RestReader(service, call_seconds, anonymous=bool(stand_in))

    def read(self) -> Policy:
        """Read and parse. Raises BadPolicy, Terminal when the object may not be read, Retryable on an outage."""
        part = f"bytes=0-{MOST_POLICY_BYTES}"
        answer = self._reader.get(self._address, {"alt": "media"}, (HTTPStatus.NOT_FOUND, _EMPTY), Range=part)
        if answer.status_code == HTTPStatus.NOT_FOUND:
            raise BadPolicy(f"{self._name}: no such object; upload it, or correct EBB_POLICY.")
        data = b"" if answer.status_code == _EMPTY else answer.content
        return self._parse(_check_size(data, self._name))


def _check_size(data: bytes, name: str) -> bytes:
    if len(data) > MOST_POLICY_BYTES:
        raise BadPolicy(f"{name}: larger than {MOST_POLICY_BYTES // 1024} KiB; EBB_POLICY must name a policy document.")
    return data
