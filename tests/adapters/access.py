"""Ways into a scripted API server."""

import json
from pathlib import Path

from kubernetes.client import Configuration

from shared.adapters.kubernetes.access import Access, Bearer


def access_to(address: str) -> Access:
    return Access(Configuration(host=address), Bearer(lambda: ("", None)))


def kubeconfig(folder: Path, address: str, *, bearer: str = "") -> Path:
    """Write a kubeconfig (JSON is YAML) with one context, `here`."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "users": [{"name": "u", "user": {"token": bearer} if bearer else {}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(document))
    return path


def no_wait(seconds: float) -> None:
    """Wait no time before a request is repeated."""
    del seconds
