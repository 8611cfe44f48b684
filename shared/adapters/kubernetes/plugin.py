"""The credential plugin of a kubeconfig, and what to do when it gives none: one sentence with the command to run.

The kubernetes package logs such a failure to the root logger and goes on without credentials, which the API server
then refuses in words that lead nowhere.
"""

import logging
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from shared.errors import Retryable

_GKE: Final = "gke-gcloud-auth-plugin"
INSTALL_GKE: Final = "run `gcloud components install gke-gcloud-auth-plugin`"
LOG_IN: Final = "run `gcloud auth login`"
_NOT_INSTALLED: Final = "[Errno 2]"
_NO_STDERR: Final = "'NoneType' object"
"""What the package makes of a plugin that fails in a terminal, where its own words have gone already."""
_GCLOUDS_MODULE: Final = re.compile(r"^\([\w.-]+\) ")
_LONGEST: Final = 200


class _RootMessages(logging.Handler):
    """Keeps what this thread says to the root logger itself."""

    def __init__(self) -> None:
        super().__init__()
        self.logged: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "root" and record.thread == self._thread:
            self.logged.append(record.getMessage())


@contextmanager
def root_messages() -> Iterator[Sequence[str]]:
    """Collect what is logged to the root logger in this block, instead of printing it."""
    messages, root = _RootMessages(), logging.getLogger()
    root.addHandler(messages)
    try:
        yield messages.logged
    finally:
        root.removeHandler(messages)


def no_credentials(path: str, context: str | None, logged: str) -> Retryable:
    """Return the failure of a kubeconfig's credential plugin; `logged` is what the kubernetes package logged of it."""
    plugin = _plugin(path, context)
    command = str(plugin.get("command", "of the kubeconfig"))
    if _NOT_INSTALLED in logged:
        hint = INSTALL_GKE if _is_gke(command) else _install_hint(plugin)
        return Retryable(f"credential plugin {command}", f"it is not installed; {hint}")
    again = (
        LOG_IN if _is_gke(command) else f"run `{' '.join([command, *map(str, plugin.get('args') or ())])}` to see why"
    )
    return Retryable(f"credential plugin {command}", f"it gave no credentials{_complaint(logged)}; {again}")


def _is_gke(command: str) -> bool:
    return os.path.basename(command).removesuffix(".exe") == _GKE  # noqa: PTH119 - a Windows path on any system


def _install_hint(plugin: dict[str, Any]) -> str:
    lines = str(plugin.get("installHint") or "").split()
    return " ".join(lines).rstrip(".") or "install it, or put its folder on PATH"


def _complaint(logged: str) -> str:
    """Return the plugin's own complaint, as far as one sentence can hold it."""
    if not logged or logged.startswith(_NO_STDERR):
        return ""
    own = next((line for line in logged.splitlines() if "ERROR: " in line), logged.splitlines()[0])
    short = _GCLOUDS_MODULE.sub("", own.rpartition("ERROR: ")[2].removeprefix("exec: ").strip()).rstrip(".")
    return f" ({short if len(short) <= _LONGEST else f'{short[:_LONGEST]}…'})"


def _plugin(path: str, context: str | None) -> dict[str, Any]:
    """Return the `exec` part of the user of a context; empty where the kubeconfig does not tell."""
    from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION, KubeConfigMerger

    merger: Any = KubeConfigMerger  # the package has no types for it
    try:
        whole = merger(path or KUBE_CONFIG_DEFAULT_LOCATION).config.value
        name = context or whole["current-context"]
        user = next(each.value["context"]["user"] for each in whole["contexts"] if each.value["name"] == name)
        found = next(each.value["user"].get("exec") for each in whole["users"] if each.value["name"] == user)
    except (LookupError, TypeError, AttributeError, StopIteration):
        return {}
    return dict(found or {})
