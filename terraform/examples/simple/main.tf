# One cluster whose control plane can be reached from the internet or by its DNS endpoint. Nothing is drained until the
# policy has `dryRun = false`.

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

module "ebb" {
  source = "../.."

  project = var.project
  cluster = var.cluster
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
