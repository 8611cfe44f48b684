"""What a test's real parts need on this machine, declared once: on a laptop a missing part skips, in CI it fails."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NoReturn

import pytest

from tests.browser import chromium, fonts
from tests.real import control_plane
from tests.real.emulators import FirestoreEmulator, PubSubEmulator
from tests.real.scheduler_filters import SchedulerFilters

Ask = Callable[[], str | None]


_TERRAFORM_NEEDED = (1, 7)
_TERRAFORM_REMEDY = "install Terraform 1.7 or newer (https://developer.hashicorp.com/terraform/install)"


def missing_terraform() -> str | None:
    if shutil.which("terraform") is None:
        return f"Terraform is not on PATH: {_TERRAFORM_REMEDY}"
    said = subprocess.run(["terraform", "version", "-json"], capture_output=True, text=True, timeout=60, check=False)
    found = re.search(r'"terraform_version": *"(\d+)\.(\d+)', said.stdout)
    if found is None or (int(found[1]), int(found[2])) < _TERRAFORM_NEEDED:
        return f"the terraform on PATH is too old for the module: {_TERRAFORM_REMEDY}"
    return None


def missing_process_list() -> str | None:
    if shutil.which("ps"):
        return None
    return "the command ps, which lists processes, is not on PATH: install procps"


NEEDS: Final[Mapping[str, Ask]] = {
    "chromium": chromium.missing,
    "font_sets": fonts.missing,
    "new_control_plane": control_plane.missing,
    "new_firestore_emulator": FirestoreEmulator.missing,
    "new_pubsub_emulator": PubSubEmulator.missing,
    "process_list": missing_process_list,
    "scheduler_filters": SchedulerFilters.missing,
    "terraform": missing_terraform,
}


def lacking(fixtures: Iterable[str]) -> str | None:
    """Say in one line all that keeps a test with these fixtures from running here, or None if nothing does."""
    names = set(fixtures)
    sentences = [said for name, ask in NEEDS.items() if name in names and (said := ask())]
    return "; ".join(dict.fromkeys(sentences)) or None


def skip_or_fail(reason: str, env: Mapping[str, str] = os.environ) -> NoReturn:
    """Skip the test with one line that says what would enable it; with CI=true fail it instead."""
    if env.get("CI") == "true":
        pytest.fail(f"CI=true allows no skip: {reason}", pytrace=False)
    pytest.skip(reason)


def require(missing: str | None) -> None:
    if missing is not None:
        skip_or_fail(missing)
