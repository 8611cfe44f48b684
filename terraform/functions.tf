# Both functions from one archive; they differ in entry point, identity and size. Everything is set, for the
# platform's own defaults cost: CPU by memory, a hundred instances, one request at a time, open to the internet.

locals {
  # One list for Terraform and for the test that builds the same archive.
  source_files = sort(distinct(flatten([
    for each in yamldecode(file("${local.root}/infra/zip.yaml")).include : tolist(fileset(local.root, each))
  ])))

  repository = module.inputs.encryption.repository == null ? google_artifact_registry_repository.images[0].id : module.inputs.encryption.repository
  archive = (
    module.inputs.functions.archive == null
    ? { path = data.archive_file.source[0].output_path, sha256 = data.archive_file.source[0].output_sha256 }
    : { path = module.inputs.functions.archive, sha256 = filesha256(module.inputs.functions.archive) }
  )

  build_repository = (
    module.inputs.encryption.repository == null
    ? [var.project, local.region, google_artifact_registry_repository.images[0].repository_id]
    : [for place in [1, 3, 5] : split("/", module.inputs.encryption.repository)[place]]
  )

  # A drain waits far more than it computes: twenty share one vCPU, each in a thread.
  drainer_concurrency = 20

  # A pass takes 560 MiB at 5,000 nodes whose pods have every rule of placement, 840 at 15,000.
  planner_memory = coalesce(
    module.inputs.functions.planner.memory,
    module.inputs.cluster.nodes > 15000 ? "4Gi" : module.inputs.cluster.nodes > 5000 || module.inputs.functions.planner.cpu == "4" ? "2Gi" : "1Gi",
  )

  # Its orders share one picture of the cluster. Measured with 20 at once: +47 MiB over an idle 92 at 500 nodes and 15,000
  # pods, +266 at 5,000 and 150,000; TLS and what the platform itself holds come on top.
  drainer_memory = coalesce(
    module.inputs.functions.drainer.memory,
    module.inputs.cluster.nodes <= 1000 ? "512Mi" : module.inputs.cluster.nodes <= 5000 ? "1Gi" : "2Gi",
  )

  environment = {
    EBB_CLUSTER            = local.cluster_id
    EBB_DECISION_LOG       = module.inputs.functions.decision_log
    EBB_ENDPOINT           = coalesce(module.inputs.network.endpoint, module.inputs.network.connector == null ? "auto" : "private")
    EBB_FIRESTORE_DATABASE = "projects/${var.project}/databases/${local.database}"
    EBB_INTERVAL_SECONDS   = tostring(local.every_minutes * 60)
    EBB_LOG_LEVEL          = module.inputs.functions.log_level
    EBB_POLICY             = local.policy_uri
    EBB_REJECTED_TOPIC     = google_pubsub_topic.topics["rejected"].id
    EBB_RESULTS_TOPIC      = google_pubsub_topic.topics["results"].id
    EBB_STATE              = "firestore"
    EBB_TOPIC              = google_pubsub_topic.topics["orders"].id
    GOOGLE_CLOUD_PROJECT   = var.project
  }
}

# The file lies beside the providers: a saved plan that is applied elsewhere needs it too, or functions.archive.
data "archive_file" "source" {
  count = module.inputs.functions.archive == null ? 1 : 0

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

# Named by its hash: other code is another object, and both functions are built anew.
resource "google_storage_bucket_object" "source" {
  bucket       = local.bucket
  name         = "source/${local.name}/${local.archive.sha256}.zip"
  source       = local.archive.path
  content_type = "application/zip"
}

resource "google_cloudfunctions2_function" "planner" {
  project      = var.project
  location     = local.region
  name         = local.planner_name
  description  = "Ebb's planner for ${local.cluster_id}"
  labels       = local.labels
  kms_key_name = module.inputs.encryption.key

  build_config {
    runtime           = module.inputs.functions.runtime
    entry_point       = "plan"
    service_account   = local.build_account_name
    docker_repository = local.repository
    worker_pool       = module.inputs.build.worker_pool

    source {
      storage_source {
        bucket = local.bucket
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    service_account_email = local.identities["planner"].email
    available_cpu         = module.inputs.functions.planner.cpu
    available_memory      = local.planner_memory
    timeout_seconds       = module.inputs.functions.planner.timeout_seconds

    # One pass at a time; the lease in the state holds where the platform does not.
    min_instance_count               = 0
    max_instance_count               = 1
    max_instance_request_concurrency = 1

    # Cloud Scheduler of the same project comes in; a laptop does not.
    ingress_settings               = "ALLOW_INTERNAL_ONLY"
    all_traffic_on_latest_revision = true
    binary_authorization_policy    = module.inputs.functions.binary_authorization
    vpc_connector                  = module.inputs.network.connector
    vpc_connector_egress_settings  = module.inputs.network.connector == null ? null : module.inputs.network.egress

    # The lease outlives the call, so that a killed pass is never joined by the next one.
    environment_variables = merge(local.environment, {
      EBB_PASS_SECONDS = tostring(module.inputs.functions.planner.timeout_seconds + 60)
    })
  }

  depends_on = [time_sleep.roles]
}

resource "google_cloudfunctions2_function" "drainer" {
  project      = var.project
  location     = local.region
  name         = local.drainer_name
  description  = "Ebb's drainer for ${local.cluster_id}"
  labels       = local.labels
  kms_key_name = module.inputs.encryption.key

  build_config {
    runtime           = module.inputs.functions.runtime
    entry_point       = "drain"
    service_account   = local.build_account_name
    docker_repository = local.repository
    worker_pool       = module.inputs.build.worker_pool

    source {
      storage_source {
        bucket = local.bucket
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    service_account_email = local.identities["drainer"].email
    available_cpu         = "1"
    available_memory      = local.drainer_memory
    timeout_seconds       = module.inputs.functions.drainer.timeout_seconds

    min_instance_count               = 0
    max_instance_count               = module.inputs.functions.drainer.instances
    max_instance_request_concurrency = local.drainer_concurrency

    # Pub/Sub of the same project comes in; people order by a message.
    ingress_settings               = "ALLOW_INTERNAL_ONLY"
    all_traffic_on_latest_revision = true
    binary_authorization_policy    = module.inputs.functions.binary_authorization
    vpc_connector                  = module.inputs.network.connector
    vpc_connector_egress_settings  = module.inputs.network.connector == null ? null : module.inputs.network.egress

    # THREADS is functions-framework's; without it there were four for twenty requests.
    environment_variables = merge(local.environment, {
      EBB_STEP_SECONDS = tostring(module.inputs.functions.drainer.step_seconds)
      THREADS          = tostring(local.drainer_concurrency)
    })
  }

  depends_on = [time_sleep.roles]

  lifecycle {
    precondition {
      condition     = local.most_drains <= module.inputs.functions.drainer.instances * local.drainer_concurrency
      error_message = "functions.drainer.instances: ${module.inputs.functions.drainer.instances} instances work on ${module.inputs.functions.drainer.instances * local.drainer_concurrency} orders at once, and the policy allows ${local.most_drains} drains; write more instances, or a smaller number of nodes in cluster.disruption.budgets."
    }
  }
}
