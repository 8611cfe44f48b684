"""Programs built once from pinned Go modules (`binaries/go.mod`, `go.sum`) into a cache; it downloads modules only."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.real.waiting import locked

MODULE = Path(__file__).parent / "binaries"
KUBERNETES = "v1.36.3"
_MAJOR, _MINOR, _ = KUBERNETES.removeprefix("v").split(".")
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


@dataclass(frozen=True)
class GoPrograms:
    """What one build makes. `folder` is its place in the cache, `what` its name for people, `complete` the proof."""

    folder: str
    what: str
    packages: Sequence[str]
    complete: Callable[[Path], bool]
    sources: Sequence[Path] = ()
    """Files that the pins do not prove: a change of one is another build."""
    finish: Callable[[Path], object] = lambda _: None
    """What is done to the fresh folder before it takes its place."""

    def home(self, env: Mapping[str, str] = os.environ) -> Path:
        """Return the folder that holds the build, there or not: a change of pins or sources gives another."""
        digest = hashlib.sha256(" ".join(BUILD).encode())
        for path in (MODULE / "go.mod", MODULE / "go.sum", *self.sources):
            digest.update(path.read_bytes())
        cache = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return cache / "ebb" / self.folder / digest.hexdigest()[:16]

    def built(self, env: Mapping[str, str] = os.environ) -> Path:
        """Return the folder, building it once if none is cached. Raises BuildError."""
        home = self.home(env)
        if self.complete(home):
            return home
        home.parent.mkdir(parents=True, exist_ok=True)
        with locked(home.parent / f"{home.name}.lock"):
            if not self.complete(home):
                self._build(home)
        return home

    def _build(self, home: Path) -> None:
        """Build beside the final folder and rename, so that an interrupted build is never taken for a whole one."""
        sys.stderr.write(f"building {self.what} from Go modules, once, about five minutes: {home}\n")
        with tempfile.TemporaryDirectory(prefix=f"{home.name}.", dir=home.parent) as temporary:
            fresh = Path(temporary) / "bin"
            fresh.mkdir()
            _go_build(fresh, self.packages)
            self.finish(fresh)
            # Only an incomplete folder can stand here: the caller holds the lock and has looked.
            shutil.rmtree(home, ignore_errors=True)
            fresh.rename(home)


def missing_go(otherwise: str = "") -> str | None:
    """Say in one sentence why this machine cannot build, or None if it can; `otherwise` is what else would help."""
    remedy = f"install Go 1.26 (https://go.dev/dl/){otherwise}"
    if shutil.which("go") is None:
        return f"the Go toolchain is not on PATH: {remedy}"
    version = _go_version()
    if version < _GO_NEEDED:
        return f"Go {'.'.join(map(str, version))} is too old to build Kubernetes {KUBERNETES}: {remedy}"
    return None


def _go_version() -> tuple[int, int]:
    answer = subprocess.run(
        ["go", "env", "GOVERSION"], env=_build_env(), capture_output=True, text=True, timeout=60, check=False
    )
    found = re.search(r"go(\d+)\.(\d+)", answer.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _go_build(out: Path, packages: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            [*BUILD, "-o", f"{out}/", *packages],
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
