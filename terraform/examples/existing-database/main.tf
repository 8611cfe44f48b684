# A Firestore database that is there already, with or without the state of an earlier Ebb. It is imported, and from then
# on Terraform's own; `delete_protection` makes `terraform destroy` stop at it until that is set to false and applied. If a
# plan wants to replace it, its location is another: correct `database_location` instead of applying. To leave
# the database in other hands, remove the import block and write `database = { create = false, name = var.database }`.

terraform {
  required_version = ">= 1.7"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.13, < 9"
    }
    kubernetes = {
      source  = "hashicorp/kubernetes"
      version = ">= 2.20, < 4"
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

data "google_client_config" "me" {}

data "google_container_cluster" "target" {
  project  = var.project
  name     = var.cluster.name
  location = var.cluster.location
}

# By the DNS endpoint if it is open, else by the address.
locals {
  target = data.google_container_cluster.target
  dns    = try(local.target.control_plane_endpoints_config[0].dns_endpoint_config[0], null)
  by_dns = try(local.dns.allow_external_traffic, false) == true
}

provider "kubernetes" {
  host                   = "https://${local.by_dns ? local.dns.endpoint : local.target.endpoint}"
  token                  = data.google_client_config.me.access_token
  cluster_ca_certificate = local.by_dns ? null : base64decode(local.target.master_auth[0].cluster_ca_certificate)
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

module "rbac" {
  source = "../../rbac"

  planner = module.ebb.identities.planner
  drainer = module.ebb.identities.drainer
}

# Text for `terraform output -raw`.
output "cli" {
  value = module.ebb.cli
}

output "drain_command" {
  value = module.ebb.drain_command
}

output "follow_command" {
  value = module.ebb.follow_command
}

output "policy" {
  value = module.ebb.policy
}

# Links into Cloud Logging.
output "log_queries" {
  value = module.ebb.log_queries
}
