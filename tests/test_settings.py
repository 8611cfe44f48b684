"""Every variable is read once; a bad value stops the start with its own sentence."""

import pytest

from shared.errors import BadSettings
from shared.settings import MOST_PASS_SECONDS, MOST_STEP_SECONDS, Settings, read_settings, variable
from tests.builders import CLUSTER

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


@pytest.mark.parametrize(
    ("sentence", "name", "value"),
    [
        pytest.param("EBB_CLUSTER is not set.", "EBB_CLUSTER", "", id="no cluster"),
        pytest.param("EBB_CLUSTER: 'prod' is not projects/", "EBB_CLUSTER", "prod", id="a cluster's bare name"),
        pytest.param("EBB_CLUSTER: 'projects/p/zones/", "EBB_CLUSTER", "projects/p/zones/z/clusters/c", id="a zone's"),
        pytest.param("EBB_TOPIC: 'orders' is not projects/", "EBB_TOPIC", "orders", id="a topic's bare name"),
        pytest.param("EBB_REJECTED_TOPIC: 'r' is not", "EBB_REJECTED_TOPIC", "r", id="a rejected topic's bare name"),
        pytest.param("EBB_RESULTS_TOPIC: 'r' is not", "EBB_RESULTS_TOPIC", "r", id="a results topic's bare name"),
        pytest.param("EBB_STATE: 'redis' is neither", "EBB_STATE", "redis", id="an unknown store"),
        pytest.param("EBB_STATE: 'sqlite:' is neither", "EBB_STATE", "sqlite:", id="sqlite without a path"),
        pytest.param(
            f"{DATABASE}: 'projects/p/ebb' is neither", DATABASE, "projects/p/ebb", id="half a database's name"
        ),
        pytest.param("EBB_POLICY: 'gs://b' names no object", "EBB_POLICY", "gs://b", id="a bucket without an object"),
        pytest.param("EBB_POLICY: 'gs://b/' names no object", "EBB_POLICY", "gs://b/", id="a bucket with a slash"),
        pytest.param("EBB_ENDPOINT: 'vpn' is not one of auto, dns", "EBB_ENDPOINT", "vpn", id="an unknown endpoint"),
        pytest.param("EBB_GKE_API: 'x' is neither an http://", "EBB_GKE_API", "x", id="no address"),
        pytest.param("EBB_GKE_API: 'https://x' is neither", "EBB_GKE_API", "https://x", id="an address over TLS"),
        pytest.param("EBB_STEP_SECONDS: 'soon' is not a positive", "EBB_STEP_SECONDS", "soon", id="seconds in words"),
        pytest.param("EBB_STEP_SECONDS: '0' is not a positive", "EBB_STEP_SECONDS", "0", id="no seconds"),
        pytest.param("EBB_STEP_SECONDS: '-1' is not a positive", "EBB_STEP_SECONDS", "-1", id="seconds below nothing"),
        pytest.param("EBB_PASS_SECONDS: '0' is not a positive", "EBB_PASS_SECONDS", "0", id="a lease of no seconds"),
        pytest.param("EBB_INTERVAL_SECONDS: '5m' is not a", "EBB_INTERVAL_SECONDS", "5m", id="an interval in minutes"),
        pytest.param("EBB_STEP_SECONDS: '14.9' is under 15 seconds", "EBB_STEP_SECONDS", "14.9", id="too short a step"),
        pytest.param("EBB_STEP_SECONDS: 'nan' is not a positive", "EBB_STEP_SECONDS", "nan", id="seconds of no number"),
        pytest.param("EBB_LOG_LEVEL: 'LOUD' is not one of DEBUG", "EBB_LOG_LEVEL", "LOUD", id="an unknown level"),
        pytest.param("EBB_LOG_LEVEL: 'info' is not one of", "EBB_LOG_LEVEL", "info", id="a level in small letters"),
        pytest.param("EBB_WEEKLY_SUMMARY: 'daily' is", "EBB_WEEKLY_SUMMARY", "daily", id="no week"),
        pytest.param("EBB_WEEKLY_SUMMARY: 'mon 9 Mars' is", "EBB_WEEKLY_SUMMARY", "mon 9 Mars", id="no zone"),
        pytest.param("EBB_WEEKLY_SUMMARY: 'mon 24 UTC' is", "EBB_WEEKLY_SUMMARY", "mon 24 UTC", id="no hour"),
        pytest.param("EBB_DECISION_LOG: 'some' is not one of", "EBB_DECISION_LOG", "some", id="an unknown log"),
    ],
)
def test_a_bad_variable_has_its_sentence(sentence: str, name: str, value: str) -> None:
    with pytest.raises(BadSettings) as caught:
        read_settings({**MINIMAL, name: value})

    [fault] = caught.value.faults
    assert fault.startswith(sentence)
    assert fault.endswith(".")


@pytest.mark.parametrize(
    ("project", "database", "written"),
    [
        pytest.param("functions", "ebb", "projects/functions/databases/ebb", id="a full name shows its project"),
        pytest.param("my-project", "ebb", "ebb", id="a bare name lies next to the cluster"),
        pytest.param("my-project", "(default)", "", id="nothing written"),
    ],
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


@pytest.mark.parametrize("value", [pytest.param("", id="empty"), pytest.param("  ", id="blank")])
def test_an_empty_variable_counts_as_not_given(value: str) -> None:
    assert read_settings({**MINIMAL, "EBB_STATE": value, "EBB_STEP_SECONDS": value}) == Settings(cluster=CLUSTER)


def test_spaces_around_a_value_do_not_count() -> None:
    assert read_settings({"EBB_CLUSTER": f" {CLUSTER}\n"}).cluster == CLUSTER


@pytest.mark.parametrize("value", [pytest.param("3600", id="an hour"), pytest.param("inf", id="forever")])
def test_a_step_never_outlasts_its_delivery(value: str) -> None:
    assert read_settings({**MINIMAL, "EBB_STEP_SECONDS": value}).step_seconds == MOST_STEP_SECONDS


@pytest.mark.parametrize("value", [pytest.param("86400", id="a day"), pytest.param("inf", id="forever")])
def test_a_killed_pass_never_keeps_the_next_ones_out_for_long(value: str) -> None:
    assert read_settings({**MINIMAL, "EBB_PASS_SECONDS": value}).pass_seconds == MOST_PASS_SECONDS
