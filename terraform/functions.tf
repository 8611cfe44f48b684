# Both functions from one archive; sizes.tf has in what they differ. Everything is set, because the platform's own defaults
# cost: CPU by memory, a hundred instances, one request at a time, open to the internet.

locals {
  # One list for Terraform and for the test that builds the same archive.
  source_files = sort(distinct(flatten([
    for each in yamldecode(file("${local.root}/infra/zip.yaml")).include : tolist(fileset(local.root, each))
  ])))

  repository = local.inputs.encryption.repository == null ? google_artifact_registry_repository.images[0].id : local.inputs.encryption.repository
  archive = (
    local.inputs.functions.archive == null
    ? { path = data.archive_file.source[0].output_path, sha256 = data.archive_file.source[0].output_sha256 }
    : { path = local.inputs.functions.archive, sha256 = filesha256(local.inputs.functions.archive) }
  )

  build_repository = (
    local.inputs.encryption.repository == null
    ? [var.project, local.region, google_artifact_registry_repository.images[0].repository_id]
    : [for place in [1, 3, 5] : split("/", local.inputs.encryption.repository)[place]]
  )

  environment = {
    EBB_CLUSTER            = local.cluster_id
    EBB_DECISION_LOG       = local.inputs.functions.decision_log
    EBB_ENDPOINT           = coalesce(local.inputs.network.endpoint, local.inputs.network.connector == null ? "auto" : "private")
    EBB_FIRESTORE_DATABASE = "projects/${var.project}/databases/${local.database}"
    EBB_INTERVAL_SECONDS   = tostring(local.every_minutes * 60)
    EBB_LOG_LEVEL          = local.inputs.functions.log_level
    EBB_POLICY             = local.policy_uri
    EBB_REJECTED_TOPIC     = google_pubsub_topic.topics["rejected"].id
    EBB_RESULTS_TOPIC      = google_pubsub_topic.topics["results"].id
    EBB_STATE              = "firestore"
    EBB_TOPIC              = google_pubsub_topic.topics["orders"].id
    GOOGLE_CLOUD_PROJECT   = var.project
  }
}

# The file is in the folder of the providers: a saved plan that is applied elsewhere needs it too, or functions.archive.
data "archive_file" "source" {
  count = local.inputs.functions.archive == null ? 1 : 0

  type             = "zip"
  output_path      = "${path.root}/.terraform/${local.name}.zip"
  output_file_mode = "0644"

  dynamic "source" {
    for_each = local.source_files
    content {
      filename = source.value
      content  = file("${local.root}/${source.value}")
    }
  }
}

# Named by its hash: other code is another object, and both functions are built again.
resource "google_storage_bucket_object" "source" {
  bucket       = local.bucket
  name         = "source/${local.name}/${local.archive.sha256}.zip"
  source       = local.archive.path
  content_type = "application/zip"
}

resource "google_cloudfunctions2_function" "functions" {
  for_each = local.functions

  project      = var.project
  location     = local.region
  name         = each.value.name
  description  = "Ebb's ${each.key} for ${local.cluster_id}"
  labels       = local.labels
  kms_key_name = local.inputs.encryption.key

  build_config {
    runtime           = local.inputs.functions.runtime
    entry_point       = each.value.entry_point
    service_account   = local.build_account_name
    docker_repository = local.repository
    worker_pool       = local.inputs.build.worker_pool

    source {
      storage_source {
        bucket = local.bucket
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    service_account_email            = local.identities[each.key].email
    available_cpu                    = each.value.cpu
    available_memory                 = each.value.memory
    timeout_seconds                  = each.value.timeout_seconds
    min_instance_count               = 0
    max_instance_count               = each.value.instances
    max_instance_request_concurrency = each.value.concurrency
    environment_variables            = merge(local.environment, each.value.environment)

    # Cloud Scheduler and Pub/Sub of the same project come in; a laptop does not. People order by a message.
    # https://cloud.google.com/run/docs/securing/ingress
    ingress_settings               = "ALLOW_INTERNAL_ONLY"
    all_traffic_on_latest_revision = true
    binary_authorization_policy    = local.inputs.functions.binary_authorization
    vpc_connector                  = local.inputs.network.connector
    vpc_connector_egress_settings  = local.inputs.network.connector == null ? null : local.inputs.network.egress
  }

  depends_on = [time_sleep.roles]

  lifecycle {
    precondition {
      condition     = each.key == "planner" || local.most_drains <= local.orders_at_once
      error_message = "functions.drainer.instances: ${local.inputs.functions.drainer.instances} instances work on ${local.orders_at_once} orders at once, and the policy allows ${local.most_drains} drains; write more instances, or a smaller number of nodes in cluster.disruption.budgets."
    }
  }
}

moved {
  from = google_cloudfunctions2_function.planner
  to   = google_cloudfunctions2_function.functions["planner"]
}

moved {
  from = google_cloudfunctions2_function.drainer
  to   = google_cloudfunctions2_function.functions["drainer"]
}

moved {
  from = google_cloud_run_v2_service_iam_member.planner_invoker
  to   = google_cloud_run_v2_service_iam_member.invokers["planner"]
}

moved {
  from = google_cloud_run_v2_service_iam_member.drainer_invoker
  to   = google_cloud_run_v2_service_iam_member.invokers["drainer"]
}
