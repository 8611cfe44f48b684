locals {
  apis = concat([
    "artifactregistry", "cloudbuild", "cloudfunctions", "cloudresourcemanager", "cloudscheduler", "container",
    "firestore", "iam", "logging", "monitoring", "pubsub", "run", "storage",
  ], local.apis_of_options)

  # By whether an input is written: its value (a connector that the same apply makes) may be known only after the apply.
  apis_of_options = [
    for api, written in {
      binaryauthorization = contains(keys(var.functions), "binary_authorization")
      cloudkms            = contains(keys(var.encryption), "key")
      compute             = var.commitments
      vpcaccess           = contains(keys(var.network), "connector")
    } : api if written
  ]
}

resource "google_project_service" "apis" {
  for_each = toset(var.apis ? local.apis : [])

  project = var.project
  service = "${each.key}.googleapis.com"

  # Other things of the project may need them: they are never switched off. (True by default before version 7.)
  disable_on_destroy = false
}

# Service Usage lists a service some time before the service itself answers, and the provider does not retry its "has not
# been used in project … wait a few minutes" (hashicorp/terraform-provider-google#4142).
resource "time_sleep" "apis" {
  count = var.apis ? 1 : 0

  create_duration = "90s"
  triggers        = { apis = join(",", local.apis) }

  depends_on = [google_project_service.apis]
}

# For the names of Google's service agents, which carry the project's number.
data "google_project" "this" {
  project_id = var.project
}
