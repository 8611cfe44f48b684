"""Ways into a scripted API server."""

import json
from pathlib import Path
from typing import Any

from kubernetes.client import Configuration

from shared.adapters.kubernetes.access import Access, Bearer


def access_to(address: str) -> Access:
    return Access(Configuration(host=address), Bearer(lambda: ("", None)))


def document(name: str = "c", **parts: Any) -> dict[str, Any]:
    """A kubeconfig with one context, whose cluster is on a host of its name; parts are its and the user's."""
    return {
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {"server": f"http://{name}.example", **parts}}],
        "users": [{"name": name, "user": parts}],
    }


def kubeconfig(folder: Path, name: str = "c", **parts: Any) -> Path:
    """Write a kubeconfig (JSON is YAML) as `document` has it."""
    folder.mkdir(exist_ok=True)
    path = folder / "kubeconfig"
    path.write_text(json.dumps(document(name, **parts)))
    return path


def no_wait(seconds: float) -> None:
    """Wait no time before a request is repeated."""
    del seconds
