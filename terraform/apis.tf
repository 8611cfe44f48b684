locals {
  apis = [
    "artifactregistry", "cloudbuild", "cloudfunctions", "cloudresourcemanager", "cloudscheduler", "container",
    "firestore", "iam", "logging", "monitoring", "pubsub", "run", "storage",
  ]
}

resource "google_project_service" "apis" {
  for_each = toset(var.apis ? local.apis : [])

  project = var.project
  service = "${each.key}.googleapis.com"

  # Other things of the project may need them: they are never switched off. (True by default before version 7.)
  disable_on_destroy = false
}

# For the names of Google's service agents, which carry the project's number.
data "google_project" "this" {
  project_id = var.project
}
