# What the identities may do, each right on the smallest thing that takes one. Inside the cluster infra/rbac.yaml
# speaks. Logs to stdout need no role.

locals {
  # Only calls by the DNS endpoint need IAM's own right to connect.
  by_dns = contains(["auto", "dns"], local.environment.EBB_ENDPOINT)

  control_plane_permissions = concat(local.by_dns ? ["container.clusters.connect"] : [], ["container.clusters.get"])

  # Of roles/datastore.user what the functions use: they delete nothing (records go by their time to live) and export nothing.
  state_permissions = [
    "datastore.databases.get", "datastore.databases.getMetadata",
    "datastore.entities.create", "datastore.entities.get", "datastore.entities.list", "datastore.entities.update",
  ]

  # Who publishes where: the planner orders, the drainer continues its own orders and publishes how they ended.
  publishers = {
    "drainer.orders"   = ["drainer", "orders"]
    "drainer.rejected" = ["drainer", "rejected"]
    "drainer.results"  = ["drainer", "results"]
    "planner.orders"   = ["planner", "orders"]
    "planner.results"  = ["planner", "results"]
  }
}

# The way into the cluster, and nothing inside it: GKE grants what either IAM or RBAC allows, so any predefined role
# would let the functions past infra/rbac.yaml.
resource "google_project_iam_custom_role" "control_plane" {
  project     = local.cluster_project
  role_id     = local.role_id
  title       = "Ebb: find and reach the control plane (${local.inputs.cluster.name})"
  permissions = local.control_plane_permissions

  depends_on = [time_sleep.apis]
}

resource "google_project_iam_member" "control_plane" {
  for_each = toset(keys(local.functions))

  project = local.cluster_project
  role    = google_project_iam_custom_role.control_plane.name
  member  = local.identities[each.key].member

  # https://cloud.google.com/iam/docs/conditions-resource-attributes (container.googleapis.com); a zonal cluster has an older
  # name, too.
  dynamic "condition" {
    for_each = local.inputs.cluster.only ? [1] : []
    content {
      title       = "cluster-of-${local.name}"
      description = "This one cluster"
      expression = join(" || ", [
        for place in ["locations", "zones"] : "resource.name == \"projects/${local.cluster_project}/${place}/${local.inputs.cluster.location}/clusters/${local.inputs.cluster.name}\""
      ])
    }
  }
}

# What of the bill is paid for anyway, for the planner alone.
resource "google_project_iam_custom_role" "commitments" {
  count = var.commitments ? 1 : 0

  project     = local.cluster_project
  role_id     = replace("${local.name}_commitments", "-", "_")
  title       = "Ebb: list committed use (${local.inputs.cluster.name})"
  permissions = ["compute.commitments.list"]

  depends_on = [time_sleep.apis]
}

resource "google_project_iam_member" "commitments" {
  count = var.commitments ? 1 : 0

  project = local.cluster_project
  role    = google_project_iam_custom_role.commitments[0].name
  member  = local.identities["planner"].member
}

resource "google_project_iam_custom_role" "state" {
  project     = var.project
  role_id     = replace("${local.name}_state", "-", "_")
  title       = "Ebb: read and write the state (${local.inputs.cluster.name})"
  permissions = local.state_permissions

  depends_on = [time_sleep.apis]
}

resource "google_project_iam_member" "state" {
  for_each = toset(keys(local.functions))

  project = var.project
  role    = google_project_iam_custom_role.state.name
  member  = local.identities[each.key].member

  # https://cloud.google.com/firestore/native/docs/manage-databases ("per-database access permissions")
  condition {
    title       = "state-of-${local.name}"
    description = "The state of this one cluster"
    expression  = "resource.name == \"projects/${var.project}/databases/${local.database}\""
  }
}

resource "google_storage_bucket_iam_member" "policy" {
  for_each = toset(keys(local.functions))

  bucket = local.bucket
  role   = "roles/storage.objectViewer"
  member = local.identities[each.key].member

  # Of the objects this one alone. Names may be listed: only then does the service answer that an object is missing,
  # and not that it is forbidden.
  condition {
    title       = "policy-of-${local.name}"
    description = "The policy of this one cluster"
    expression  = "resource.type == \"storage.googleapis.com/Bucket\" || resource.name == \"projects/_/buckets/${local.bucket}/objects/${local.policy_object}\""
  }
}

resource "google_pubsub_topic_iam_member" "publishers" {
  for_each = local.publishers

  project = var.project
  topic   = google_pubsub_topic.topics[each.value[1]].name
  role    = "roles/pubsub.publisher"
  member  = local.identities[each.value[0]].member
}

# Which identity calls which function. A function that is replaced has a service without the right to call it, and the same name: only the
# function's own replacement shows that the right must be granted again.
resource "google_cloud_run_v2_service_iam_member" "invokers" {
  for_each = { drainer = "push", planner = "scheduler" }

  project  = var.project
  location = local.region
  name     = google_cloudfunctions2_function.functions[each.key].name
  role     = "roles/run.invoker"
  member   = local.identities[each.value].member

  lifecycle {
    replace_triggered_by = [google_cloudfunctions2_function.functions[each.key].id]
  }
}

# Pub/Sub signs the tokens of its pushes, and moves dead letters, in the name of its own agent. It makes the agent some time after the
# first topic, and a grant to one that is not there yet is refused and not repeated. The provider can make an agent only in its beta.
resource "google_service_account_iam_member" "push_token" {
  service_account_id = local.identities["push"].name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = local.pubsub_agent

  depends_on = [time_sleep.roles]
}

resource "google_pubsub_topic_iam_member" "dead_letters" {
  project = var.project
  topic   = google_pubsub_topic.topics["dead_letters"].name
  role    = "roles/pubsub.publisher"
  member  = local.pubsub_agent

  depends_on = [time_sleep.roles]
}

resource "google_pubsub_subscription_iam_member" "dead_letters" {
  project      = var.project
  subscription = google_pubsub_subscription.orders.name
  role         = "roles/pubsub.subscriber"
  member       = local.pubsub_agent
}

# The images. Without a repository of its own an installation would leave them in gcf-artifacts, which nobody cleans up.
resource "google_artifact_registry_repository" "images" {
  count = local.inputs.encryption.repository == null ? 1 : 0

  project       = var.project
  location      = local.region
  repository_id = local.name
  description   = "The images of Ebb's functions for ${local.cluster_id}"
  format        = "DOCKER"
  labels        = local.labels

  cleanup_policies {
    id     = "keep-the-newest"
    action = "KEEP"
    most_recent_versions {
      keep_count = 5
    }
  }
  cleanup_policies {
    id     = "delete-the-rest"
    action = "DELETE"
    condition {
      older_than = "2592000s" # 30 days
    }
  }

  depends_on = [time_sleep.apis]
}

# The build reads the copy of the source that Cloud Functions makes, writes the image, into this one repository, and its log.
# https://cloud.google.com/functions/docs/securing/build-custom-sa
resource "google_artifact_registry_repository_iam_member" "build" {
  project    = local.build_repository[0]
  location   = local.build_repository[1]
  repository = local.build_repository[2]
  role       = "roles/artifactregistry.writer"
  member     = "serviceAccount:${local.build_account}"
}

resource "google_project_iam_member" "build" {
  for_each = toset(local.inputs.build.create ? ["roles/logging.logWriter"] : [])

  project = var.project
  role    = each.key
  member  = local.identities["build"].member
}

resource "google_project_iam_member" "build_source" {
  count = local.inputs.build.create ? 1 : 0

  project = var.project
  role    = "roles/storage.objectViewer"
  member  = local.identities["build"].member

  condition {
    title       = "sources-of-functions"
    description = "The buckets in which Cloud Functions keeps sources"
    expression  = "resource.name.startsWith(\"projects/_/buckets/gcf-v2-\") || resource.name.startsWith(\"projects/_/buckets/run-sources-\")"
  }
}

# A role counts for everybody only some time after it was given, "typically 2 minutes, potentially 7 minutes or longer";
# a build or a first call that is quicker fails. https://cloud.google.com/iam/docs/access-change-propagation
resource "time_sleep" "roles" {
  create_duration = "180s"
  triggers = {
    grants      = sha256(jsonencode([for grant in local.waited_grants : [grant.id, grant.condition]]))
    permissions = join(",", flatten([for role in local.waited_roles : sort(role.permissions)]))
  }
}

locals {
  waited_roles = concat(
    [google_project_iam_custom_role.control_plane, google_project_iam_custom_role.state],
    google_project_iam_custom_role.commitments,
  )
  waited_grants = concat(
    [google_artifact_registry_repository_iam_member.build],
    values(google_project_iam_member.build),
    google_project_iam_member.build_source,
    google_project_iam_member.commitments,
    values(google_project_iam_member.control_plane),
    values(google_project_iam_member.state),
    values(google_pubsub_topic_iam_member.publishers),
    values(google_storage_bucket_iam_member.policy),
  )
}
