"""tflint, built once from its Go module into the cache. Its Terraform ruleset is built in, so it needs no download.

The ruleset for Google (allowed machine types and the like) is a plugin from GitHub's releases, and is left out.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

MODULE: Final = "github.com/terraform-linters/tflint"
VERSION: Final = "v0.61.0"
BUILD_SECONDS: Final = 1200.0
"""Two minutes of two cores, and more where they are shared."""
_REMEDY: Final = f"tflint {VERSION} is built from its Go module, which takes Go and Go's module proxy"


def tflint(*, build: bool) -> Path:
    """Return the binary from the cache, where `build` puts it if it is missing: some minutes the first time.

    Raises:
        RuntimeError: it is not there and may or can not be built; the sentence says what would help.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    binary = cache / "ebb" / "tflint" / VERSION / "tflint"
    if not binary.is_file():
        if not build:
            raise RuntimeError(f"{_REMEDY}, and some minutes the first time: python -m tests.terraform.linter")
        _build(binary)
    return binary


def _build(binary: Path) -> None:
    if shutil.which("go") is None:
        raise RuntimeError(f"the Go toolchain is not on PATH: {_REMEDY}")
    sys.stderr.write(f"building tflint from its Go module, once, about two minutes: {binary}\n")
    binary.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["go", "install", "-buildvcs=false", f"{MODULE}@{VERSION}"],
        env={**os.environ, "GOBIN": str(binary.parent), "GOFLAGS": ""},
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["no word why"])[-1]
        raise RuntimeError(f"{_REMEDY}: {why}")


if __name__ == "__main__":
    sys.stdout.write(f"{tflint(build=True)}\n")
