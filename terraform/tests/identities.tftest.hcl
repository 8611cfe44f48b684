# Who may do what. Names a person could guess the rights of are compared with exactly those rights.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "archive" {}
mock_provider "time" {}

variables {
  project = "my-project"
  cluster = { name = "prod", location = "europe-west1", project = "clusters-project" }
}

run "rights" {
  command = plan

  assert {
    condition     = google_project_iam_custom_role.control_plane.permissions == toset(["container.clusters.connect", "container.clusters.get"])
    error_message = "The functions find and reach the control plane, and IAM lets them do nothing inside it."
  }
  assert {
    condition = (
      google_project_iam_custom_role.control_plane.project == "clusters-project" &&
      alltrue([for each in google_project_iam_member.control_plane : each.project == "clusters-project"])
    )
    error_message = "The role stands in the project of the cluster."
  }
  assert {
    condition = toset(keys(google_project_iam_member.state)) == toset(["drainer", "planner"]) && alltrue([
      for each in google_project_iam_member.state :
      each.condition[0].expression == "resource.name == \"projects/my-project/databases/${local.name}\""
    ])
    error_message = "The functions reach the one database of this cluster."
  }
  assert {
    condition     = !anytrue([for each in google_project_iam_custom_role.state.permissions : strcontains(each, "delete") || strcontains(each, "xport")])
    error_message = "The functions can delete and export nothing of the state."
  }
  assert {
    condition = alltrue([
      for each in google_project_iam_member.control_plane :
      strcontains(each.condition[0].expression, "resource.name == \"${local.cluster_id}\"")
    ])
    error_message = "The functions reach this one cluster."
  }
  assert {
    condition = (
      google_artifact_registry_repository.images[0].repository_id == local.name &&
      google_artifact_registry_repository.images[0].location == "europe-west1"
    )
    error_message = "The images lie in a repository of the installation's own."
  }
  assert {
    condition = toset(keys(google_storage_bucket_iam_member.policy)) == toset(["drainer", "planner"]) && alltrue([
      for each in google_storage_bucket_iam_member.policy :
      each.role == "roles/storage.objectViewer" &&
      endswith(each.condition[0].expression, "resource.name == \"projects/_/buckets/my-project-${local.name}/objects/policy/${local.name}.yaml\"")
    ])
    error_message = "The functions read the policy, and nobody but Terraform writes it."
  }
  assert {
    condition = toset(keys(google_pubsub_topic_iam_member.publishers)) == toset([
      "drainer.orders", "drainer.rejected", "drainer.results", "planner.orders", "planner.results",
    ]) && alltrue([for each in google_pubsub_topic_iam_member.publishers : each.role == "roles/pubsub.publisher"])
    error_message = "The functions publish, each where it must."
  }
  assert {
    condition = (
      google_cloud_run_v2_service_iam_member.invokers["planner"].name == "${local.name}-planner" &&
      google_cloud_run_v2_service_iam_member.invokers["drainer"].name == "${local.name}-drainer" &&
      google_cloud_run_v2_service_iam_member.invokers["planner"].role == "roles/run.invoker" &&
      google_cloud_run_v2_service_iam_member.invokers["drainer"].role == "roles/run.invoker"
    )
    error_message = "Cloud Scheduler calls the planner, Pub/Sub the drainer, nobody else anything."
  }
  assert {
    condition = (
      google_service_account_iam_member.push_token.member == "serviceAccount:service-123456789012@gcp-sa-pubsub.iam.gserviceaccount.com" &&
      google_service_account_iam_member.push_token.role == "roles/iam.serviceAccountTokenCreator" &&
      google_pubsub_topic_iam_member.dead_letters.member == google_service_account_iam_member.push_token.member &&
      google_pubsub_topic_iam_member.dead_letters.topic == "${local.name}-dead-letters" &&
      google_pubsub_subscription_iam_member.dead_letters.member == google_service_account_iam_member.push_token.member &&
      google_pubsub_subscription_iam_member.dead_letters.role == "roles/pubsub.subscriber" &&
      google_pubsub_subscription_iam_member.dead_letters.subscription == "${local.name}-orders"
    )
    error_message = "Pub/Sub's agent signs tokens for the push identity alone, and moves dead letters."
  }
  assert {
    condition = (
      toset(keys(google_project_iam_member.build)) == toset(["roles/logging.logWriter"]) &&
      google_project_iam_member.build_source[0].condition[0].expression == join(" || ", [for each in ["gcf-v2-", "run-sources-"] : "resource.name.startsWith(\"projects/_/buckets/${each}\")"])
    )
    error_message = "The build reads sources of functions, and writes its log."
  }
  assert {
    condition = (
      google_artifact_registry_repository_iam_member.build.role == "roles/artifactregistry.writer" &&
      google_artifact_registry_repository_iam_member.build.project == "my-project" &&
      google_artifact_registry_repository_iam_member.build.location == "europe-west1" &&
      google_artifact_registry_repository_iam_member.build.repository == local.name
    )
    error_message = "The build writes images into the installation's own repository, and nowhere else."
  }
}

run "without_the_dns_endpoint_nobody_connects_by_iam" {
  command = plan

  variables {
    cluster = { name = "prod", location = "europe-west1", only = false }
    network = { connector = "projects/my-project/locations/europe-west1/connectors/c" }
  }

  assert {
    condition     = google_project_iam_custom_role.control_plane.permissions == toset(["container.clusters.get"])
    error_message = "Only the DNS endpoint asks IAM."
  }
  assert {
    condition     = alltrue([for each in google_project_iam_member.control_plane : length(each.condition) == 0])
    error_message = "Where IAM takes no condition it can be left out."
  }
}

run "a_given_builder_of_any_project_writes_into_the_given_repository_alone" {
  command = plan

  variables {
    build = { create = false, service_account = "builder@builders.example.com.iam.gserviceaccount.com" }
    encryption = {
      key        = "projects/keys/locations/europe-west1/keyRings/r/cryptoKeys/k"
      repository = "projects/images/locations/europe-west1/repositories/functions"
    }
  }

  assert {
    condition = (
      google_artifact_registry_repository_iam_member.build.project == "images" &&
      google_artifact_registry_repository_iam_member.build.location == "europe-west1" &&
      google_artifact_registry_repository_iam_member.build.repository == "functions" &&
      google_artifact_registry_repository_iam_member.build.member == "serviceAccount:builder@builders.example.com.iam.gserviceaccount.com" &&
      length(google_project_iam_member.build) == 0
    )
    error_message = "Of a given repository, in whatever project, the builder gets that one."
  }
  assert {
    condition = toset([
      for function in google_cloudfunctions2_function.functions : function.build_config[0].service_account
    ]) == toset(["projects/example.com:builders/serviceAccounts/builder@builders.example.com.iam.gserviceaccount.com"])
    error_message = "A builder's address says in which project it lies."
  }
}
