"""The environment, read once: each variable with its meaning; a bad value stops the start with a sentence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.core.policy.schedule import zone_of
from shared.errors import BadInput, BadSettings

_CLUSTER: Final = re.compile(r"projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/clusters/(?P<name>[^/]+)")
_DATABASE: Final = re.compile(r"(?:projects/(?P<project>[^/]+)/databases/)?(?P<name>[^/]+)")
_WEEKLY: Final = re.compile(r"(?P<day>mon|tue|wed|thu|fri|sat|sun) (?P<hour>1?\d|2[0-3]) (?P<zone>\S+)")
LEAST_STEP_SECONDS: Final = 15
"""A cordon settles for five seconds, and so do a workload's counts: a shorter step would mostly hand itself on."""
MOST_STEP_SECONDS: Final = 540  # Under the 600 s after which a Pub/Sub push is delivered again.
MOST_PASS_SECONDS: Final = 1800
"""Cloud Scheduler waits no longer for an answer (https://cloud.google.com/scheduler/docs/reference/rest/v1, Job)."""
MOST_INTERVAL_SECONDS: Final = 86_400  # A day: of rarer passes no mark is worth keeping.
_MOST_SECONDS: Final = {
    "step_seconds": MOST_STEP_SECONDS,
    "pass_seconds": MOST_PASS_SECONDS,
    "interval_seconds": MOST_INTERVAL_SECONDS,
}
"""The variables that are durations, and what a longer one is cut to."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One field per variable of the environment (docs/run.md)."""

    cluster: str  # EBB_CLUSTER: projects/P/locations/L/clusters/C.
    topic: str = ""  # EBB_TOPIC: where orders are published.
    rejected_topic: str = ""  # EBB_REJECTED_TOPIC: keeps messages that are no orders.
    results_topic: str = ""  # EBB_RESULTS_TOPIC: drain results for other systems.
    state: str = "firestore"  # EBB_STATE: `firestore`, or `sqlite:PATH`.
    firestore_database: str = "(default)"
    """EBB_FIRESTORE_DATABASE: projects/P/databases/D; a bare D lies in the cluster's project."""
    policy: str = ""  # EBB_POLICY: gs://BUCKET/OBJECT or a file path.
    endpoint: str = "auto"  # EBB_ENDPOINT: which address of the control plane is used.
    kubeconfig: str = ""  # EBB_KUBECONFIG: a kubeconfig instead of the GKE lookup of endpoint and credentials.
    gke_api: str = ""  # EBB_GKE_API: an http:// address in the GKE API's place; `none` = no GKE API.
    step_seconds: float = 25.0
    """EBB_STEP_SECONDS: a drain step's soft deadline; short, for Pub/Sub widens a push subscription's window only with
    acknowledgements, and what a killed step left undone is begun again after the acknowledgement deadline."""
    pass_seconds: float = 360.0
    """EBB_PASS_SECONDS: how long the planner's lease lives; longer than the function may run, for a pass that was
    killed keeps the next ones out for so long."""
    interval_seconds: float = 300.0
    """EBB_INTERVAL_SECONDS: how far apart the planner's passes are; marks outlive three that are missing."""
    log_level: str = "INFO"  # EBB_LOG_LEVEL.
    decision_log: str = "changes"  # EBB_DECISION_LOG: log each node's verdict on change only, or at every pass.
    weekly_summary: str = "mon 9 UTC"
    """EBB_WEEKLY_SUMMARY: when the planner sums up a week: a day, an hour and a time zone, or `off`."""
    google_cloud_project: str = ""
    """GOOGLE_CLOUD_PROJECT: where the functions run, if not in the cluster's project; traces are named by it."""

    @property
    def project(self) -> str:
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
    """Return the settings; besides the cluster, `needed` may not be missing. Raises BadSettings with all faults."""
    given = {
        name: environment[variable(name)].strip()
        for name in Settings.__dataclass_fields__
        if environment.get(variable(name), "").strip()
    }
    missing = [name for name in ("cluster", *needed) if name not in given]
    wrong = [*_faults(given)]
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


def _one_of(*words: str) -> tuple[re.Pattern[str], str]:
    return re.compile("|".join(words)), f"is not one of {', '.join(words)}"


_TOPIC: Final = (re.compile(r"projects/[^/]+/topics/[^/]+"), "is not projects/PROJECT/topics/TOPIC")
_FORMS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    "cluster": (_CLUSTER, "is not projects/PROJECT/locations/LOCATION/clusters/NAME"),
    "topic": _TOPIC,
    "rejected_topic": _TOPIC,
    "results_topic": _TOPIC,
    "state": (re.compile("firestore|sqlite:.+"), "is neither firestore nor sqlite:PATH"),
    "firestore_database": (_DATABASE, "is neither projects/PROJECT/databases/DATABASE nor a database's id"),
    "policy": (re.compile("(?!gs://).*|gs://[^/]+/.*[^/].*"), "names no object; write gs://BUCKET/OBJECT"),
    "endpoint": _one_of("auto", "dns", "private", "public"),
    "log_level": _one_of("DEBUG", "INFO", "WARNING", "ERROR"),
    "decision_log": _one_of("changes", "all"),
    "gke_api": (re.compile("none|http://.*"), "is neither an http:// address nor none"),
}
"""What a variable's value must look like, and what is wrong with one that does not."""


def _faults(given: Mapping[str, str]) -> Iterator[str]:
    for name, (form, fault) in _FORMS.items():
        if name in given and not form.fullmatch(given[name]):
            yield f"{variable(name)}: {given[name]!r} {fault}."
    for name in _MOST_SECONDS:
        if name in given and not _is_positive(given[name]):
            yield f"{variable(name)}: {given[name]!r} is not a positive number of seconds."
    week = _WEEKLY.fullmatch(text := given.get("weekly_summary", "off"))
    if text != "off" and not (week and _is_zone(week["zone"])):
        yield f"EBB_WEEKLY_SUMMARY: {text!r} is neither off nor a day, an hour and a zone such as mon 9 Europe/Berlin."
    step = given.get("step_seconds", "")
    if _is_positive(step) and float(step) < LEAST_STEP_SECONDS:
        least = f"under {LEAST_STEP_SECONDS} seconds, in which a step reads the cluster, evicts and sees the outcome"
        yield f"EBB_STEP_SECONDS: {step!r} is {least}."


def _is_zone(name: str) -> bool:
    try:
        zone_of(name)
    except BadInput:
        return False
    return True


def _is_positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False
