"""Google's Firestore and Pub/Sub emulators; they have no IAM, TTL, filters, or OIDC tokens of pushes."""

import http.client
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from infra.local.bound_process import Child
from shared.errors import Terminal
from tests.real.held_ports import HeldPorts

START_SECONDS = 240.0
END_SECONDS = 60.0
_SDK_PLACES = (
    "/usr/lib/google-cloud-sdk",
    "/usr/share/google-cloud-sdk",
    "/opt/google-cloud-sdk",
    "/snap/google-cloud-cli/current",
    "/opt/homebrew/share/google-cloud-sdk",
    "~/google-cloud-sdk",
)


class EmulatorError(RuntimeError):
    """The emulator cannot be started; the sentence says what is missing or what it said."""


class _Emulator:
    component: ClassVar[str]
    program: ClassVar[str]
    arguments: ClassVar[tuple[str, ...]]
    host: str

    @classmethod
    def missing(cls, env: Mapping[str, str] = os.environ) -> str | None:
        """Say in one sentence what this machine lacks to run the emulator, or None."""
        if shutil.which("java") is None:
            return f"Java is not on PATH: install a Java 17 runtime to run the {cls.component}"
        if _program(cls.program, env) is None:
            return (
                f"the gcloud SDK's {cls.component} was not found: run `gcloud components install {cls.component}` "
                f"(on Debian `apt-get install google-cloud-cli-{cls.component.removeprefix('cloud-')}`)"
            )
        return None

    def __enter__(self) -> Self:
        if reason := self.missing():
            raise EmulatorError(reason)
        self._ports = HeldPorts(1)
        [port] = self._ports.numbers
        self.host = f"127.0.0.1:{port}"
        self._folder = folder = Path(tempfile.mkdtemp(prefix="ebb-emulator-"))
        command = [
            str(_program(self.program, os.environ)),
            *(argument.format(folder=folder) for argument in self.arguments),
        ]
        command += ["--host=127.0.0.1", f"--port={port}"]
        self._process = Child(self.component, ["-m", "infra.local.bound_process", str(folder), *command], folder)
        try:
            self._process.wait_until(lambda: _answers(port), "it did not answer", START_SECONDS)
        except Terminal:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        self._process.close(END_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._ports.close()


class FirestoreEmulator(_Emulator):
    """`host` is what FIRESTORE_EMULATOR_HOST asks for; every named database exists from its first use."""

    component = "cloud-firestore-emulator"
    program = "platform/cloud-firestore-emulator/cloud_firestore_emulator"
    arguments = ("start",)


class PubSubEmulator(_Emulator):
    """`host` is what PUBSUB_EMULATOR_HOST asks for."""

    component = "pubsub-emulator"
    program = "platform/pubsub-emulator/bin/cloud-pubsub-emulator"
    arguments = ("--data-dir={folder}",)


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _program(program: str, env: Mapping[str, str]) -> Path | None:
    """Find the emulator's start script in the SDK that CLOUDSDK_ROOT names, in the usual places, or by gcloud."""
    given = env.get("CLOUDSDK_ROOT") or env.get("CLOUDSDK_ROOT_DIR")
    for place in [given] if given else _SDK_PLACES:
        if (found := Path(place).expanduser() / program).is_file():
            return found
    found = Path(_gcloud_root()) / program
    return found if found.is_file() else None


def _gcloud_root() -> str:
    if shutil.which("gcloud") is None:
        return ""
    answer = subprocess.run(
        ["gcloud", "info", "--format=value(installation.sdk_root)"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return answer.stdout.strip()
