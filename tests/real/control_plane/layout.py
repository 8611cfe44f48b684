"""Where the parts of a control plane lie: all in one folder, so that whoever knows the folder can read or end it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "ebb"


@dataclass(frozen=True)
class Layout:
    folder: Path

    @property
    def bin(self) -> Path:
        """Links to the binaries. Everything is started through them, so a process shows whose it is by its path."""
        return self.folder / "bin"

    @property
    def kwok(self) -> Path:
        return self.folder / "kwok"

    @property
    def logs(self) -> Path:
        return self.kwok / "clusters" / NAME / "logs"

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig with an administrator's client certificate; its paths lead into the folder."""
        return self.folder / "kubeconfig"

    @property
    def configuration(self) -> Path:
        return self.folder / "kwokctl.yaml"

    @property
    def proxy_log(self) -> Path:
        return self.folder / "proxy.log"

    def proxy_url(self) -> str | None:
        """The base address of the plain-HTTP proxy, once it has said where it serves."""
        said = self.proxy_log.read_text() if self.proxy_log.exists() else ""
        found = re.search(r"on (127\.0\.0\.1:\d+)", said)
        return f"http://{found[1]}" if found else None

    def audit(self) -> list[dict[str, Any]]:
        """The API server's own record: audit.k8s.io/v1 events of finished requests, in the order they finished.

        All components and clients share one certificate, so `userAgent` tells who asked. The API server writes
        an event before it answers; after 100 MB it goes on in a new file.
        """
        lines = (line for path in sorted(self.logs.glob("audit*.log")) for line in path.read_bytes().split(b"\n")[:-1])
        # What follows the last line's end is only half written yet.
        return [json.loads(line) for line in lines]
