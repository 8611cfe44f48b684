"""The binaries of a real control plane: found in a folder, or built once from pinned Go modules into a cache."""

import os
from collections.abc import Mapping
from pathlib import Path

from tests.real.control_plane.go_build import KUBERNETES, AssetsError, GoPrograms, missing_go

BINARIES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", "kwokctl")


def missing(env: Mapping[str, str] = os.environ) -> str | None:
    if env.get("EBB_KUBE_ASSETS") or _complete(_PROGRAMS.home(env)):
        return None
    return missing_go(" or let EBB_KUBE_ASSETS name a folder with the binaries")


def locate(env: Mapping[str, str] = os.environ) -> Path:
    """Return the folder with all `BINARIES`, building it once (five minutes). Raises BuildError or AssetsError."""
    if given := env.get("EBB_KUBE_ASSETS"):
        return _given(Path(given))
    if reason := missing(env):
        raise AssetsError(reason)
    return _PROGRAMS.built(env)


def _given(folder: Path) -> Path:
    absent = [name for name in BINARIES if not (folder / name).is_file()]
    if absent:
        raise AssetsError(f"EBB_KUBE_ASSETS={folder} has no {', '.join(absent)}: put them there or unset it")
    return folder.resolve()


def _complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in BINARIES)


def _name_etcd(folder: Path) -> None:
    """The module calls its program `server`."""
    (folder / "server").rename(folder / "etcd")


_PROGRAMS = GoPrograms("kube", f"Kubernetes {KUBERNETES}", ["tool"], _complete, finish=_name_etcd)
