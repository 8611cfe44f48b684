# A Firestore database that is there already, with or without the state of an earlier Ebb. It is imported, and from then
# on Terraform's own; `delete_protection` makes `terraform destroy` stop at it until that is set to false and applied. A
# plan that says "must be replaced" of it has another location: correct `database_location` instead of applying. To leave
# the database in other hands, remove the import block and say `database = { create = false, name = var.database }`.

terraform {
  required_version = ">= 1.7"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.13, < 9"
    }
  }
}

variable "project" {
  type = string
}

variable "cluster" {
  type = object({ name = string, location = string })
}

variable "database" {
  description = "The id of the database. It must be a named one in native mode, and of this cluster alone."
  type        = string
}

variable "database_location" {
  type = string
}

provider "google" {
  project = var.project
}

import {
  to = module.ebb.google_firestore_database.state[0]
  id = "projects/${var.project}/databases/${var.database}"
}

module "ebb" {
  source = "../.."

  project = var.project
  cluster = var.cluster
  database = {
    name              = var.database
    location          = var.database_location
    delete_protection = true
  }
  policy = {
    nodePools = { default-pool = { enabled = true } }
  }
}

output "ebb" {
  value = module.ebb
}

# As text of their own, for `terraform output -raw`.
output "cli" {
  value = module.ebb.cli
}

output "policy" {
  value = module.ebb.policy
}

output "rbac" {
  value = module.ebb.rbac
}
