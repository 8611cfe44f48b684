"""The port `PolicySource`: the policy's bytes from a bucket's object or a file, read anew at each call.

`STORAGE_EMULATOR_HOST` replaces the real service, without credentials. Parsing is handed in. Must not keep a
policy: what people changed counts at the next read.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from shared.adapters.google_failures import Service
from shared.core.policy import Policy
from shared.errors import BadPolicy, Retryable, Terminal

Parse = Callable[[bytes], Policy]

MOST_BYTES: Final = 1024 * 1024
"""A policy of 1,000 pools is a tenth of this; what is larger is another file."""
CALL_SECONDS: Final = 10.0
"""For one attempt; no further one begins when as long has passed."""


class FilePolicy:
    """A policy in a file."""

    def __init__(self, path: str, parse: Parse) -> None:
        self._path = Path(path)
        self._parse = parse

    def read(self) -> Policy:
        """Read and parse. Raises BadPolicy, Terminal when the file may not be read, Retryable on an I/O error."""
        return self._parse(_sized(self._data(), f"policy {self._path}"))

    def _data(self) -> bytes:
        try:
            with self._path.open("rb") as file:
                return file.read(MOST_BYTES + 1)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise BadPolicy(f"policy {self._path}: no such file; write one, or correct EBB_POLICY.") from error
        except PermissionError as error:
            raise Terminal(f"policy {self._path}", "may not be read by this user.") from error
        except OSError as error:
            raise Retryable(f"policy {self._path}", str(error)) from error


class BucketPolicy:
    """A policy in an object of Cloud Storage. Safe for threads."""

    def __init__(self, bucket: str, name: str, parse: Parse, call_seconds: float = CALL_SECONDS) -> None:
        """Make the client.

        Raises:
            Terminal: there is no identity to ask with.
        """
        from google.cloud.storage import Client  # noqa: PLC0415 - cold start
        from google.cloud.storage.retry import DEFAULT_RETRY  # noqa: PLC0415 - cold start

        self._name = f"policy gs://{bucket}/{name}"
        self._parse = parse
        self._service = Service(self._name, "Grant this identity roles/storage.objectViewer on the bucket.")
        with self._service.asked():
            client = Client(project=None)  # reading one object needs none
        self._object: Callable[[], Any] = partial(client.bucket(bucket).blob, name)
        self._bounds = {"timeout": call_seconds, "retry": DEFAULT_RETRY.with_timeout(call_seconds)}

    def read(self) -> Policy:
        """Read and parse. Raises BadPolicy, Terminal when the object may not be read, Retryable on an outage."""
        return self._parse(_sized(self._data(), self._name))

    def _data(self) -> bytes:
        from google.api_core import exceptions  # noqa: PLC0415 - cold start

        with self._service.asked():
            try:
                return bytes(self._object().download_as_bytes(end=MOST_BYTES, checksum=None, **self._bounds))
            except exceptions.NotFound as error:
                raise BadPolicy(f"{self._name}: no such object; upload it, or correct EBB_POLICY.") from error
            except exceptions.RequestRangeNotSatisfiable:
                return b""  # how the service answers when asked for a part of an empty object


def _sized(data: bytes, name: str) -> bytes:
    if len(data) > MOST_BYTES:
        raise BadPolicy(f"{name}: larger than {MOST_BYTES // 1024} KiB; EBB_POLICY must name a policy document.")
    return data
