"""Every variable is read once; a bad value stops the start with its own sentence."""

import pytest

from shared.errors import BadSettings
from shared.settings import MOST_PASS_SECONDS, MOST_STEP_SECONDS, Settings, read_settings, variable
from tests.builders import CLUSTER
from tests.depth import cases

MINIMAL = {"EBB_CLUSTER": CLUSTER}
DATABASE = "EBB_FIRESTORE_DATABASE"


def test_a_cluster_is_enough() -> None:
    assert read_settings(MINIMAL) == Settings(cluster=CLUSTER)


def test_every_variable_of_the_contract_is_read() -> None:
    everything = {
        "EBB_CLUSTER": "projects/my-project/locations/europe-west1/clusters/prod",
        "EBB_TOPIC": "projects/p/topics/orders",
        "EBB_REJECTED_TOPIC": "projects/p/topics/rejected",
        "EBB_RESULTS_TOPIC": "projects/p/topics/results",
        "EBB_STATE": "sqlite:/tmp/ebb",
        "EBB_FIRESTORE_DATABASE": "ebb-prod",
        "EBB_POLICY": "gs://bucket/prod/policy.yaml",
        "EBB_ENDPOINT": "dns",
        "EBB_KUBECONFIG": "/home/me/.kube/config",
        "EBB_GKE_API": "http://127.0.0.1:8080",
        "EBB_STEP_SECONDS": "15.5",
        "EBB_PASS_SECONDS": "90",
        "EBB_INTERVAL_SECONDS": "600",
        "EBB_LOG_LEVEL": "DEBUG",
        "EBB_DECISION_LOG": "all",
        "EBB_WEEKLY_SUMMARY": "fri 16 Europe/Berlin",
        "GOOGLE_CLOUD_PROJECT": "functions",
    }

    settings = read_settings(everything)

    assert settings == Settings(
        cluster="projects/my-project/locations/europe-west1/clusters/prod",
        topic="projects/p/topics/orders",
        rejected_topic="projects/p/topics/rejected",
        results_topic="projects/p/topics/results",
        state="sqlite:/tmp/ebb",
        firestore_database="ebb-prod",
        policy="gs://bucket/prod/policy.yaml",
        endpoint="dns",
        kubeconfig="/home/me/.kube/config",
        gke_api="http://127.0.0.1:8080",
        step_seconds=15.5,
        pass_seconds=90,
        interval_seconds=600,
        log_level="DEBUG",
        decision_log="all",
        weekly_summary="fri 16 Europe/Berlin",
        google_cloud_project="functions",
    )
    assert settings.cluster_project == "my-project"
    assert set(everything) == {variable(name) for name in Settings.__dataclass_fields__}


@cases(
    "sentence, name, value",
    ("no cluster", "EBB_CLUSTER is not set.", "EBB_CLUSTER", ""),
    ("a cluster's bare name", "EBB_CLUSTER: 'prod' is not projects/", "EBB_CLUSTER", "prod"),
    ("a zone's", "EBB_CLUSTER: 'projects/p/zones/", "EBB_CLUSTER", "projects/p/zones/z/clusters/c"),
    ("a topic's bare name", "EBB_TOPIC: 'orders' is not projects/", "EBB_TOPIC", "orders"),
    ("a rejected topic's bare name", "EBB_REJECTED_TOPIC: 'r' is not", "EBB_REJECTED_TOPIC", "r"),
    ("a results topic's bare name", "EBB_RESULTS_TOPIC: 'r' is not", "EBB_RESULTS_TOPIC", "r"),
    ("an unknown store", "EBB_STATE: 'redis' is neither", "EBB_STATE", "redis"),
    ("sqlite without a path", "EBB_STATE: 'sqlite:' is neither", "EBB_STATE", "sqlite:"),
    ("half a database's name", f"{DATABASE}: 'projects/p/ebb' is neither", DATABASE, "projects/p/ebb"),
    ("a bucket without an object", "EBB_POLICY: 'gs://b' names no object", "EBB_POLICY", "gs://b"),
    ("a bucket with a slash", "EBB_POLICY: 'gs://b/' names no object", "EBB_POLICY", "gs://b/"),
    ("an unknown endpoint", "EBB_ENDPOINT: 'vpn' is not one of auto, dns", "EBB_ENDPOINT", "vpn"),
    ("no address", "EBB_GKE_API: 'x' is neither an http://", "EBB_GKE_API", "x"),
    ("an address over TLS", "EBB_GKE_API: 'https://x' is neither", "EBB_GKE_API", "https://x"),
    ("seconds in words", "EBB_STEP_SECONDS: 'soon' is not a positive", "EBB_STEP_SECONDS", "soon"),
    ("no seconds", "EBB_STEP_SECONDS: '0' is not a positive", "EBB_STEP_SECONDS", "0"),
    ("seconds below nothing", "EBB_STEP_SECONDS: '-1' is not a positive", "EBB_STEP_SECONDS", "-1"),
    ("a lease of no seconds", "EBB_PASS_SECONDS: '0' is not a positive", "EBB_PASS_SECONDS", "0"),
    ("an interval in minutes", "EBB_INTERVAL_SECONDS: '5m' is not a", "EBB_INTERVAL_SECONDS", "5m"),
    ("too short a step", "EBB_STEP_SECONDS: '14.9' is under 15 seconds", "EBB_STEP_SECONDS", "14.9"),
    ("seconds of no number", "EBB_STEP_SECONDS: 'nan' is not a positive", "EBB_STEP_SECONDS", "nan"),
    ("an unknown level", "EBB_LOG_LEVEL: 'LOUD' is not one of DEBUG", "EBB_LOG_LEVEL", "LOUD"),
    ("a level in small letters", "EBB_LOG_LEVEL: 'info' is not one of", "EBB_LOG_LEVEL", "info"),
    ("no week", "EBB_WEEKLY_SUMMARY: 'daily' is", "EBB_WEEKLY_SUMMARY", "daily"),
    ("no zone", "EBB_WEEKLY_SUMMARY: 'mon 9 Mars' is", "EBB_WEEKLY_SUMMARY", "mon 9 Mars"),
    ("no hour", "EBB_WEEKLY_SUMMARY: 'mon 24 UTC' is", "EBB_WEEKLY_SUMMARY", "mon 24 UTC"),
    ("an unknown log", "EBB_DECISION_LOG: 'some' is not one of", "EBB_DECISION_LOG", "some"),
)
def test_a_bad_variable_has_its_sentence(sentence: str, name: str, value: str) -> None:
    with pytest.raises(BadSettings) as caught:
        read_settings({**MINIMAL, name: value})

    [fault] = caught.value.faults
    assert fault.startswith(sentence)
    assert fault.endswith(".")


@cases(
    "project, database, written",
    ("a full name shows its project", "functions", "ebb", "projects/functions/databases/ebb"),
    ("a bare name lies next to the cluster", "my-project", "ebb", "ebb"),
    ("nothing written", "my-project", "(default)", ""),
)
def test_the_state_lies_where_its_name_shows(project: str, database: str, written: str) -> None:
    clusters = "projects/my-project/locations/europe-west1/clusters/prod"
    settings = read_settings({"EBB_CLUSTER": clusters, DATABASE: written, "GOOGLE_CLOUD_PROJECT": "functions"})

    assert settings.state_database == (project, database)


def test_the_functions_run_next_to_the_cluster_unless_shown_otherwise() -> None:
    clusters = {"EBB_CLUSTER": "projects/clusters/locations/europe-west1/clusters/prod"}

    assert read_settings(clusters).project == "clusters"
    assert read_settings({**clusters, "GOOGLE_CLOUD_PROJECT": "functions"}).project == "functions"


def test_all_faults_are_shown_at_once() -> None:
    with pytest.raises(BadSettings) as caught:
        read_settings({"EBB_TOPIC": "t", "EBB_STATE": "s", "EBB_STEP_SECONDS": "x"})

    assert [fault.split(":")[0] for fault in caught.value.faults[1:]] == [
        "EBB_TOPIC", "EBB_STATE", "EBB_STEP_SECONDS",
    ]  # fmt: skip


def test_all_that_is_missing_is_shown_in_one_sentence() -> None:
    with pytest.raises(BadSettings) as caught:
        read_settings({}, "topic", "policy")

    assert caught.value.faults == ("EBB_CLUSTER is not set, nor is EBB_TOPIC, nor is EBB_POLICY.",)


@cases("value", ("empty", ""), ("blank", "  "))
def test_an_empty_variable_counts_as_not_given(value: str) -> None:
    assert read_settings({**MINIMAL, "EBB_STATE": value, "EBB_STEP_SECONDS": value}) == Settings(cluster=CLUSTER)


def test_spaces_around_a_value_do_not_count() -> None:
    assert read_settings({"EBB_CLUSTER": f" {CLUSTER}\n"}).cluster == CLUSTER


@cases("value", ("an hour", "3600"), ("forever", "inf"))
def test_a_step_never_outlasts_its_delivery(value: str) -> None:
    assert read_settings({**MINIMAL, "EBB_STEP_SECONDS": value}).step_seconds == MOST_STEP_SECONDS


@cases("value", ("a day", "86400"), ("forever", "inf"))
def test_a_killed_pass_never_keeps_the_next_ones_out_for_long(value: str) -> None:
    assert read_settings({**MINIMAL, "EBB_PASS_SECONDS": value}).pass_seconds == MOST_PASS_SECONDS
