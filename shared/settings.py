"""The environment, read once: each variable with its meaning; a bad value stops the start with a sentence."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import available_timezones

from shared.errors import BadSettings

_CLUSTER: Final = re.compile(r"projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/clusters/(?P<name>[^/]+)")
_TOPIC: Final = re.compile(r"projects/[^/]+/topics/[^/]+")
_DATABASE: Final = re.compile(r"(?:projects/(?P<project>[^/]+)/databases/)?(?P<name>[^/]+)")
_ENDPOINTS: Final = ("auto", "dns", "private", "public")
_LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR")
_DECISION_LOGS: Final = ("changes", "all")
_WEEKLY: Final = re.compile(r"(?P<day>mon|tue|wed|thu|fri|sat|sun) (?P<hour>1?\d|2[0-3]) (?P<zone>\S+)")
LEAST_STEP_SECONDS: Final = 15
"""A cordon settles for five seconds, and so do a workload's counts: a shorter step would mostly hand itself on."""
MOST_STEP_SECONDS: Final = 540
"""Under the 600 s after which a Pub/Sub push is delivered again."""
MOST_PASS_SECONDS: Final = 1800
"""Cloud Scheduler waits no longer for an answer (https://cloud.google.com/scheduler/docs/reference/rest/v1, Job)."""
MOST_INTERVAL_SECONDS: Final = 86_400
"""A day: of rarer passes no mark is worth keeping."""
_MOST_SECONDS: Final = {
    "step_seconds": MOST_STEP_SECONDS,
    "pass_seconds": MOST_PASS_SECONDS,
    "interval_seconds": MOST_INTERVAL_SECONDS,
}
"""The variables that are durations, and what a longer one is cut to."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One field per variable of the environment (docs/run.md)."""

    cluster: str
    """EBB_CLUSTER: projects/P/locations/L/clusters/C."""
    topic: str = ""
    """EBB_TOPIC: where orders are published."""
    rejected_topic: str = ""
    """EBB_REJECTED_TOPIC: keeps messages that are no orders."""
    results_topic: str = ""
    """EBB_RESULTS_TOPIC: drain results for other systems."""
    state: str = "firestore"
    """EBB_STATE: `firestore`, or `sqlite:PATH`."""
    firestore_database: str = "(default)"
    """EBB_FIRESTORE_DATABASE: projects/P/databases/D; a bare D lies in the cluster's project."""
    policy: str = ""
    """EBB_POLICY: gs://BUCKET/OBJECT or a file path."""
    endpoint: str = "auto"
    """EBB_ENDPOINT: which address of the control plane is used."""
    kubeconfig: str = ""
    """EBB_KUBECONFIG: a kubeconfig instead of the GKE lookup of endpoint and credentials."""
    gke_api: str = ""
    """EBB_GKE_API: an http:// address in the GKE API's place; `none` = no GKE API."""
    step_seconds: float = 25.0
    """EBB_STEP_SECONDS: a drain step's soft deadline; short, for Pub/Sub widens a push subscription's window only with
    acknowledgements, and what a killed step left undone is begun again after the acknowledgement deadline."""
    pass_seconds: float = 360.0
    """EBB_PASS_SECONDS: how long the planner's lease lives; longer than the function may run, for a pass that was
    killed keeps the next ones out for so long."""
    interval_seconds: float = 300.0
    """EBB_INTERVAL_SECONDS: how far apart the planner's passes are; marks outlive three that are missing."""
    log_level: str = "INFO"
    """EBB_LOG_LEVEL."""
    decision_log: str = "changes"
    """EBB_DECISION_LOG: log each node's verdict on change only, or at every pass."""
    weekly_summary: str = "mon 9 UTC"
    """EBB_WEEKLY_SUMMARY: when the planner sums up a week: a day, an hour and a time zone, or `off`."""
    google_cloud_project: str = ""
    """GOOGLE_CLOUD_PROJECT: where the functions run, if not in the cluster's project; traces are named by it."""

    @property
    def project(self) -> str:
        """Where the functions run."""
        return self.google_cloud_project or self.cluster_project

    @property
    def cluster_project(self) -> str:
        match = _CLUSTER.fullmatch(self.cluster)
        return match["project"] if match else ""

    @property
    def weekly_cron(self) -> tuple[str, str] | None:
        """The cron fields and the time zone of the weekly summary; None where it is off."""
        match = _WEEKLY.fullmatch(self.weekly_summary)
        return (f"0 {match['hour']} * * {match['day']}", match["zone"]) if match else None

    @property
    def state_database(self) -> tuple[str, str]:
        """The project and the id of the Firestore database."""
        match = _DATABASE.fullmatch(self.firestore_database)
        project, name = (match["project"], match["name"]) if match else (None, self.firestore_database)
        return project or self.cluster_project, name


def variable(name: str) -> str:
    """Return the variable of the environment that a field is read from."""
    return name.upper() if name == "google_cloud_project" else f"EBB_{name.upper()}"


def read_settings(environment: Mapping[str, str], *needed: str) -> Settings:
    """Return the settings of an environment; besides the cluster, `needed` may not be missing.

    Raises:
        BadSettings: with one sentence for every variable that is missing or wrong.
    """
    given = {
        name: environment[variable(name)].strip()
        for name in Settings.__dataclass_fields__
        if environment.get(variable(name), "").strip()
    }
    missing = [name for name in ("cluster", *needed) if name not in given]
    wrong = [fault for check in _CHECKS for fault in check(given)]
    if missing:
        raise not_set(missing, *wrong)
    if wrong:
        raise BadSettings(*wrong)
    seconds = {name: min(float(given[name]), most) for name, most in _MOST_SECONDS.items() if name in given}
    values: dict[str, Any] = {**given, **seconds}
    return Settings(**values)


def not_set(names: Sequence[str], *wrong: str) -> BadSettings:
    """Return the failure that names the variables that are missing, and what is wrong with others."""
    first, *rest = map(variable, names)
    failure = BadSettings(f"{', nor is '.join([f'{first} is not set', *rest])}.", *wrong)
    failure.at_a_shell = (
        'Terraform\'s output cli has the values: eval "$(terraform output -raw cli)", '
        "or --cluster NAME where a profile holds them."
    )
    return failure


def _cluster(given: Mapping[str, str]) -> list[str]:
    if "cluster" not in given or _CLUSTER.fullmatch(given["cluster"]):
        return []
    return [f"EBB_CLUSTER: {given['cluster']!r} is not projects/PROJECT/locations/LOCATION/clusters/NAME."]


def _topics(given: Mapping[str, str]) -> list[str]:
    names = ("topic", "rejected_topic", "results_topic")
    return [
        f"EBB_{name.upper()}: {given[name]!r} is not projects/PROJECT/topics/TOPIC."
        for name in names
        if name in given and not _TOPIC.fullmatch(given[name])
    ]


def _database(given: Mapping[str, str]) -> list[str]:
    database = given.get("firestore_database", "")
    if not database or _DATABASE.fullmatch(database):
        return []
    return [f"EBB_FIRESTORE_DATABASE: {database!r} is neither projects/PROJECT/databases/DATABASE nor a database's id."]


def _choices(given: Mapping[str, str]) -> list[str]:
    choices = {"endpoint": _ENDPOINTS, "log_level": _LEVELS, "decision_log": _DECISION_LOGS}
    return [
        f"EBB_{name.upper()}: {given[name]!r} is not one of {', '.join(allowed)}."
        for name, allowed in choices.items()
        if name in given and given[name] not in allowed
    ]


def _state(given: Mapping[str, str]) -> list[str]:
    state = given.get("state", "firestore")
    if state == "firestore" or (state.startswith("sqlite:") and len(state) > len("sqlite:")):
        return []
    return [f"EBB_STATE: {state!r} is neither firestore nor sqlite:PATH."]


def _policy(given: Mapping[str, str]) -> list[str]:
    policy = given.get("policy", "")
    if policy.startswith("gs://") and "/" not in policy.removeprefix("gs://").strip("/"):
        return [f"EBB_POLICY: {policy!r} names no object; write gs://BUCKET/OBJECT."]
    return []


def _weekly(given: Mapping[str, str]) -> list[str]:
    text = given.get("weekly_summary", "off")
    match = _WEEKLY.fullmatch(text)
    if text == "off" or (match and match["zone"] in available_timezones()):
        return []
    return [
        f"EBB_WEEKLY_SUMMARY: {text!r} is neither off nor a day, an hour and a time zone such as mon 9 Europe/Berlin."
    ]


def _gke_api(given: Mapping[str, str]) -> list[str]:
    api = given.get("gke_api", "")
    if not api or api == "none" or api.startswith("http://"):
        return []
    return [f"EBB_GKE_API: {api!r} is neither an http:// address nor none."]


def _seconds(given: Mapping[str, str]) -> list[str]:
    return [
        f"EBB_{name.upper()}: {given[name]!r} is not a positive number of seconds."
        for name in _MOST_SECONDS
        if name in given and not _is_positive(given[name])
    ]


def _is_positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _short_step(given: Mapping[str, str]) -> list[str]:
    text = given.get("step_seconds", "")
    if not _is_positive(text) or float(text) >= LEAST_STEP_SECONDS:
        return []
    least = f"under {LEAST_STEP_SECONDS} seconds, in which a step reads the cluster, evicts and sees the outcome"
    return [f"EBB_STEP_SECONDS: {text!r} is {least}."]


_CHECKS: Final = (_cluster, _topics, _state, _database, _policy, _choices, _weekly, _gke_api, _seconds, _short_step)
