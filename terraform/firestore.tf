# One database per cluster: an identity that reaches it reaches no other cluster's state.

locals {
  database = local.inputs.database.create ? google_firestore_database.state[0].name : local.inputs.database.name

  # Nothing is ever queried by a field, and an index on the maps would cost a write for every node.
  collections = ["clusters", "commitments", "drains", "ledger", "pools", "runs", "waves", "weeks"]
  unindexed   = { for pair in setproduct(local.collections, ["value", "write"]) : join(".", pair) => pair }
}

resource "google_firestore_database" "state" {
  count = local.inputs.database.create ? 1 : 0

  project                           = var.project
  name                              = local.database_name
  location_id                       = coalesce(local.inputs.database.location, local.region)
  type                              = "FIRESTORE_NATIVE"
  concurrency_mode                  = "OPTIMISTIC"
  app_engine_integration_mode       = "DISABLED"
  point_in_time_recovery_enablement = "POINT_IN_TIME_RECOVERY_DISABLED"

  # Without DELETE, `destroy` would leave the database behind (the default is ABANDON). Losing it is safe: every node
  # that Ebb holds is then uncordoned, and the marks start again.
  deletion_policy         = "DELETE"
  delete_protection_state = local.inputs.database.delete_protection ? "DELETE_PROTECTION_ENABLED" : "DELETE_PROTECTION_DISABLED"

  dynamic "cmek_config" {
    for_each = local.inputs.encryption.key != null && local.inputs.encryption.database ? [local.inputs.encryption.key] : []
    content {
      kms_key_name = cmek_config.value
    }
  }

  depends_on = [time_sleep.apis, google_kms_crypto_key_iam_member.agents]
}

resource "google_firestore_field" "unindexed" {
  for_each = local.unindexed

  project    = var.project
  database   = local.database
  collection = each.value[0]
  field      = each.value[1]

  index_config {}
}

# Records of drains and summaries of weeks go by themselves, within a day of their time, and what version 0.1 kept of ticks.
resource "google_firestore_field" "expiry" {
  for_each = toset(["drains", "runs", "weeks"])

  project    = var.project
  database   = local.database
  collection = each.key
  field      = "expire_at"

  index_config {}
  ttl_config {}
}
