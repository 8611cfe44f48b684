# The bucket holds two things, both written by Terraform alone: the policy and the functions' source.

locals {
  bucket = local.inputs.bucket.create ? google_storage_bucket.ebb[0].name : local.inputs.bucket.name
}

resource "google_storage_bucket" "ebb" {
  count = local.inputs.bucket.create ? 1 : 0

  project                     = var.project
  name                        = local.bucket_name
  location                    = coalesce(local.inputs.bucket.location, local.region)
  labels                      = local.labels
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  # Of one installation it holds nothing that Terraform could not write again, but old versions, which would keep `destroy`
  # from ending. In one that others share their policies and sources lie, too.
  force_destroy = local.inputs.bucket.force_destroy

  # Who changed the policy, and how it was before.
  versioning {
    enabled = true
  }

  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      days_since_noncurrent_time = 30
      matches_prefix             = ["source/"]
    }
  }

  dynamic "encryption" {
    for_each = local.inputs.encryption.key == null ? [] : [local.inputs.encryption.key]
    content {
      default_kms_key_name = encryption.value
    }
  }

  depends_on = [time_sleep.apis, google_kms_crypto_key_iam_member.agents]
}
