# Every name carries prefix and cluster, for people, and a hash of the cluster's full name, for uniqueness: two
# clusters of one project share no name, even if they differ only in location or only after the 14th letter.

locals {
  # Of the repository, from which come the functions' source, the rights in the cluster and the policy's schema.
  root = "${path.module}/.."

  cluster_project = coalesce(local.inputs.cluster.project, var.project)
  cluster_id      = "projects/${local.cluster_project}/locations/${local.inputs.cluster.location}/clusters/${local.inputs.cluster.name}"
  cluster_hash    = substr(sha256(local.cluster_id), 0, 7)

  region = coalesce(var.region, join("-", slice(split("-", local.inputs.cluster.location), 0, 2)))

  # At most 22 characters: with "-planner" that is the 30 that a service account's id may have.
  name = "${trim(substr("${var.prefix}-${local.inputs.cluster.name}", 0, 14), "-")}-${local.cluster_hash}"

  # Roles allow no hyphens.
  role_id = replace("${local.name}_control_plane", "-", "_")

  # Names of buckets are shared by all of Google Cloud, hence the project; at most 63 characters.
  bucket_name   = coalesce(local.inputs.bucket.name, "${replace(var.project, "/[:.]/", "-")}-${local.name}")
  database_name = coalesce(local.inputs.database.name, local.name)

  planner_name = "${local.name}-planner"
  drainer_name = "${local.name}-drainer"

  # Topics, and the subscriptions on them.
  orders_name       = "${local.name}-orders"
  dead_letters_name = "${local.name}-dead-letters"
  rejected_name     = "${local.name}-rejected"
  results_name      = "${local.name}-results"

  labels = merge(var.labels, { ebb = local.name })
}
