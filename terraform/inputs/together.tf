# What does not go together with another input, with the project or with the region: each would be ignored, or be refused by
# Google after minutes, some as the last step.

locals {
  # Of the project example.com:shop they end with @shop.example.com.iam.gserviceaccount.com.
  accounts_end = "@${join(".", reverse(split(":", var.installation.project)))}.iam.gserviceaccount.com"
  callers      = [for email in [var.input.identities.push, var.input.identities.scheduler] : email if email != null]

  # What a function takes of its own region only, by the input and the region in its full name.
  elsewhere = {
    for input, name in {
      "build.worker_pool"     = var.input.build.worker_pool
      "encryption.key"        = var.input.encryption.key
      "encryption.repository" = var.input.encryption.repository
      "network.connector"     = var.input.network.connector
    } : input => split("/", name)[3] if try(split("/", name)[3] != var.installation.region, false)
  }

  # Measured: 560 MiB at 5,000 nodes, 840 at 15,000 (docs/limits.md).
  planner_gib = var.input.cluster.nodes <= 1000 ? 0 : var.input.cluster.nodes <= 15000 ? 1 : 2
}

output "together" {
  value = true

  precondition {
    condition = length(local.elsewhere) == 0
    error_message = join("\n", [
      for input, region in local.elsewhere :
      "${input}: it lies in ${region}, and the functions in ${var.installation.region}; write one of ${var.installation.region}."
    ])
  }
  # https://cloud.google.com/pubsub/docs/create-push-subscription, https://cloud.google.com/scheduler/docs/http-target-auth
  precondition {
    condition = alltrue([
      for email in local.callers : !endswith(email, ".iam.gserviceaccount.com") || endswith(email, local.accounts_end)
    ])
    error_message = "identities.push, identities.scheduler: Pub/Sub and Cloud Scheduler take accounts of the functions' project alone; write ones that end with ${local.accounts_end}."
  }
  precondition {
    condition     = var.input.build.service_account == null || !contains([for email in values(var.input.identities) : email if email != null], coalesce(var.input.build.service_account, "-"))
    error_message = "build.service_account: it is one of identities, whose rights anyone who changes the build would have; write another account."
  }
  # https://cloud.google.com/storage/docs/buckets#naming
  precondition {
    condition     = !var.input.bucket.create || !can(regex("^goog|g[o0][o0]gle", var.installation.bucket_name))
    error_message = "bucket.name: Cloud Storage makes no bucket whose name begins with goog or holds google, as ${var.installation.bucket_name} does; write another name."
  }
  precondition {
    condition     = var.input.encryption.key == null || var.input.bucket.location == null || try(lower(var.input.bucket.location) == split("/", var.input.encryption.key)[3], true)
    error_message = "bucket.location: a bucket lies where its key lies; with encryption.key leave it out."
  }
  # https://cloud.google.com/firestore/native/docs/use-cmek
  precondition {
    condition     = !var.input.encryption.database || var.input.database.create
    error_message = "encryption.database: a database keeps the encryption that it was made with; leave it out for one that is there."
  }
  precondition {
    condition     = !var.input.encryption.database || var.input.database.location == null || try(var.input.database.location == split("/", var.input.encryption.key)[3], true)
    error_message = "database.location: Firestore takes a key of its own location alone; with encryption.database leave it out."
  }
  precondition {
    condition = var.input.functions.planner.memory == null || try(
      tonumber(trimsuffix(replace(var.input.functions.planner.memory, "/^.*Mi$/", "0"), "Gi")) >= local.planner_gib, true
    )
    error_message = "functions.planner.memory: it is too little for cluster.nodes = ${var.input.cluster.nodes}; write at least ${local.planner_gib}Gi, or leave it out."
  }
}
