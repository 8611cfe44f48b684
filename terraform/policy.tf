# The policy is one object that only Terraform writes and that the functions may only read.

locals {
  policy_uri = "gs://${local.bucket}/${local.policy_object}"
}

resource "google_storage_bucket_object" "policy" {
  bucket       = local.bucket
  name         = local.policy_object
  content      = local.policy_document
  content_type = "application/yaml"

  lifecycle {
    precondition {
      condition     = var.policy_file == null || length(var.policy) == 0
      error_message = "policy and policy_file exclude each other; write one of them."
    }
    precondition {
      condition     = length(local.policy_faults) == 0
      error_message = join("\n", concat(["The policy is not valid:"], local.policy_faults))
    }
    precondition {
      condition     = !var.paused || try(local.policy.paused, false) == true
      error_message = "policy_file: it has a form that cannot be paused from here; write `paused: true` into the file yourself."
    }
  }
}
