# The dashboard over all clusters, and the saved queries: once for the whole fleet.

terraform {
  required_version = ">= 1.7"

  backend "gcs" {
    bucket = "my-terraform-states"
  }

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 7.31, < 9"
    }
  }
}

variable "projects" {
  type = list(string)
}

# A dataset of BigQuery for summaries and missed savings, such as ebb_weeks.
variable "dataset" {
  type    = string
  default = null
}

provider "google" {
  project = var.projects[0]
}

module "review" {
  source = "../../../review"

  projects = var.projects
  dataset  = var.dataset
}

output "dashboard" {
  value = module.review.dashboard
}

output "queries" {
  value = module.review.queries
}
