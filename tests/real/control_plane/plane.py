"""A control plane as a test or a person holds it: up inside a `with` block, gone after it, even after a crash."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from infra.local.bound_process import Child
from tests.real.control_plane import assets
from tests.real.control_plane.api import Api
from tests.real.control_plane.cluster import ControlPlaneError, create, destroy, last_words, processes, run
from tests.real.control_plane.configuration import PORTS
from tests.real.control_plane.layout import Layout
from tests.real.control_plane.resync import Resync
from tests.real.held_ports import HeldPorts

_KUBECTL_SECONDS = 240.0


def missing(env: Mapping[str, str] = os.environ) -> str | None:
    """Say in one sentence what keeps this machine from running a control plane, or None if nothing does."""
    if shutil.which("ps") is None:
        return "the command ps, which finds what is to be ended, is not on PATH: install procps"
    return assets.missing(env)


class ControlPlane:
    """A control plane with kwok's kubelets; a guard ends everything if this process goes away without doing so."""

    def __init__(self) -> None:
        self._guard: Child | None = None
        self._proxy: subprocess.Popen[bytes] | None = None
        self._resync: Resync | None = None

    def __enter__(self) -> Self:
        binaries = assets.locate()
        self._layout = Layout(Path(tempfile.mkdtemp(prefix="ebb-control-plane-")).resolve())
        self._ports = HeldPorts(len(PORTS))
        folder = self._layout.folder
        self._guard = Child("guard", ["-m", "tests.real.control_plane.guard", str(folder)], folder)
        try:
            self._proxy = create(self._layout, binaries, self._ports.numbers)
        except ControlPlaneError:
            self.close()
            raise
        self._resync = Resync(self.api)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def kubeconfig(self) -> Path:
        return self._layout.kubeconfig

    @property
    def proxy_url(self) -> str:
        """A plain-HTTP base address on loopback that reaches the API server as administrator, without TLS."""
        url = self._layout.proxy_url()
        if url is None:
            raise ControlPlaneError("the control plane is not up: use it inside its `with` block")
        return url

    @property
    def api(self) -> Api:
        return Api(self.proxy_url)

    def last_words(self) -> str:
        """What runs of it, and the last line of each component's log: for the story of a failure."""
        return f"{len(processes(self._layout))} processes run\n{last_words(self._layout)}"

    @property
    def pods_lost_by_kwok(self) -> int:
        return len(self._resync.looked_again) if self._resync is not None else 0

    def audit(self) -> list[dict[str, Any]]:
        return self._layout.audit()

    def kubectl(self, *arguments: str, stdin: str | None = None, seconds: float = _KUBECTL_SECONDS) -> str:
        """Run kubectl; return what it printed. Raises ControlPlaneError if it fails or takes longer than `seconds`."""
        command = [str(self._layout.bin / "kubectl"), f"--kubeconfig={self.kubeconfig}", *arguments]
        return run(command, seconds, stdin=stdin)

    def close(self) -> None:
        """End every process and remove every file of the control plane; harmless when it is done already."""
        if self._guard is None:
            return
        if self._resync is not None:
            self._resync.close()
        self._guard.close(60)
        self._guard = None
        destroy(self._layout)
        self._ports.close()
        if self._proxy is not None:
            self._proxy.wait()
