# The policy is one object that only Terraform writes. A typed policy becomes JSON without its nulls; a file is
# uploaded as it stands, comments and all.

locals {
  policy_object = "policy/${local.name}.yaml"
  policy_uri    = "gs://${local.bucket}/${local.policy_object}"

  # jsonencode writes null for what is absent. No string can hold what is cut: its quotes would be escaped.
  policy_typed = replace(replace(replace(
    jsonencode(merge(var.policy, var.paused ? { paused = true } : {})),
    "/,\"[A-Za-z]+\":null/", ""),
    "/\\{\"[A-Za-z]+\":null,/", "{"),
    "/\\{\"[A-Za-z]+\":null\\}/", "{}"
  )

  # Text is mended as text: decoded and encoded again, a date would become an instant, and `yes` true.
  policy_text   = var.policy_file == null ? "" : file(var.policy_file)
  policy_key    = "/(?m)^(paused|\"paused\"|'paused')[ \\t]*:.*$/"
  policy_paused = length(regexall(trim(local.policy_key, "/"), local.policy_text)) > 0
  policy_filed = (
    !var.paused
    ? local.policy_text
    : can(jsondecode(local.policy_text))
    ? jsonencode(merge(try(jsondecode(local.policy_text), {}), { paused = true }))
    : local.policy_paused
    ? replace(local.policy_text, local.policy_key, "paused: true")
    : "${trimsuffix(local.policy_text, "\n")}\npaused: true\n"
  )

  policy_document = var.policy_file == null ? local.policy_typed : local.policy_filed
  policy          = yamldecode(local.policy_document)

  # Counts only: of a percentage nobody knows here how many nodes it is.
  most_drains = max(0, [
    for budget in try(local.policy.cluster.disruption.budgets, []) : try(tonumber(budget.nodes), 0)
  ]...)
}

resource "google_storage_bucket_object" "policy" {
  bucket       = local.bucket
  name         = local.policy_object
  content      = local.policy_document
  content_type = "application/yaml"

  lifecycle {
    precondition {
      condition     = var.policy_file == null || contains(["{}", "{\"paused\":true}"], local.policy_typed)
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
