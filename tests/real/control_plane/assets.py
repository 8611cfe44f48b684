"""The binaries of a real control plane: found in a folder, or built once from pinned Go modules into a cache.

No binary is in the repository and none is downloaded: the Go module beside this file (`binaries/go.mod`) pins
every version and `go.sum` proves what was fetched. This module starts none of the binaries.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

MODULE = Path(__file__).parent / "binaries"
KUBERNETES = "v1.36.3"
_MAJOR, _MINOR, _ = KUBERNETES.removeprefix("v").split(".")
BINARIES = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kwok",
    "kwokctl",
)
# Without these the binaries call themselves v0.0.0-master, and clients that look at the version misjudge them.
_VERSION = {
    "k8s.io/component-base/version.gitVersion": KUBERNETES,
    "k8s.io/component-base/version.gitMajor": _MAJOR,
    "k8s.io/component-base/version.gitMinor": _MINOR,
    "k8s.io/client-go/pkg/version.gitVersion": KUBERNETES,
}
LDFLAGS = " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in _VERSION.items())])
BUILD = ("go", "build", "-trimpath", "-buildvcs=false", f"-ldflags={LDFLAGS}")
BUILD_SECONDS = 3600
_GO_NEEDED = (1, 26)


class AssetsError(RuntimeError):
    """The binaries cannot be had; the sentence says what is missing and what to do."""


class BuildError(AssetsError):
    """Go could not build them: its sentence, and then Go's own words."""


def missing(env: Mapping[str, str] = os.environ) -> str | None:
    """Say in one sentence what keeps this machine from having the binaries, or None if nothing does."""
    if env.get("EBB_KUBE_ASSETS") or _complete(_home(env)):
        return None
    remedy = "install Go 1.26 (https://go.dev/dl/) or let EBB_KUBE_ASSETS name a folder with the binaries"
    if shutil.which("go") is None:
        return f"the Go toolchain is not on PATH: {remedy}"
    version = _go_version()
    if version < _GO_NEEDED:
        return f"Go {'.'.join(map(str, version))} is too old to build Kubernetes {KUBERNETES}: {remedy}"
    return None


def locate(env: Mapping[str, str] = os.environ) -> Path:
    """Return the folder that holds every name in `BINARIES`, building them first if no build is cached.

    A cold build takes about five minutes on two cores; processes that ask at the same time build once.

    Raises:
        BuildError: the build failed.
        AssetsError: Go is missing or too old, or the folder that EBB_KUBE_ASSETS names is incomplete.
    """
    if given := env.get("EBB_KUBE_ASSETS"):
        return _given(Path(given))
    home = _home(env)
    if _complete(home):
        return home
    if reason := missing(env):
        raise AssetsError(reason)
    home.parent.mkdir(parents=True, exist_ok=True)
    with _locked(home.parent / f"{home.name}.lock"):
        if not _complete(home):
            _build(home)
    return home


def _given(folder: Path) -> Path:
    absent = [name for name in BINARIES if not (folder / name).is_file()]
    if absent:
        raise AssetsError(f"EBB_KUBE_ASSETS={folder} has no {', '.join(absent)}: put them there or unset it")
    return folder.resolve()


def _home(env: Mapping[str, str]) -> Path:
    cache = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "ebb" / "kube" / _fingerprint()


def _fingerprint() -> str:
    digest = hashlib.sha256(" ".join(BUILD).encode())
    for name in ("go.mod", "go.sum"):
        digest.update((MODULE / name).read_bytes())
    return digest.hexdigest()[:16]


def _complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in BINARIES)


def _go_version() -> tuple[int, int]:
    answer = subprocess.run(
        ["go", "env", "GOVERSION"], env=_build_env(), capture_output=True, text=True, timeout=60, check=False
    )
    found = re.search(r"go(\d+)\.(\d+)", answer.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(home: Path) -> None:
    """Build beside the final folder and rename, so that an interrupted build is never taken for a whole one."""
    sys.stderr.write(f"building Kubernetes {KUBERNETES} from Go modules, once, about five minutes: {home}\n")
    with tempfile.TemporaryDirectory(prefix=f"{home.name}.", dir=home.parent) as temporary:
        fresh = Path(temporary) / "bin"
        fresh.mkdir()
        _go_build(fresh)
        (fresh / "server").rename(fresh / "etcd")
        # Only an incomplete folder can stand here: the caller holds the lock and has looked.
        shutil.rmtree(home, ignore_errors=True)
        fresh.rename(home)


def _go_build(out: Path) -> None:
    try:
        done = subprocess.run(
            [*BUILD, "-o", f"{out}/", "tool"],
            cwd=MODULE,
            env=_build_env(),
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as slow:
        raise BuildError(f"go build took more than {BUILD_SECONDS} s: run it again, it resumes") from slow
    if done.returncode:
        raise BuildError(f"go build failed in {MODULE}:\n{done.stderr.strip()[-4000:]}")


def _build_env() -> dict[str, str]:
    """Pure Go and the Go that is installed: no C compiler is needed and no other toolchain is fetched."""
    return os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly"}
