# A small fleet in one state: one apply for all, each cluster with its own database, identities, queue and bucket. A provider
# cannot be repeated, so each cluster has a block of its own for the rights inside it.

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

locals {
  clusters = {
    prod-north = "europe-north1"
    prod-west  = "europe-west1"
  }

  # By the DNS endpoint if it is open, else by the address.
  control_planes = {
    for name, each in data.google_container_cluster.targets : name => {
      by_dns  = try(each.control_plane_endpoints_config[0].dns_endpoint_config[0].allow_external_traffic, false) == true
      dns     = try(each.control_plane_endpoints_config[0].dns_endpoint_config[0].endpoint, "")
      address = each.endpoint
      ca      = base64decode(each.master_auth[0].cluster_ca_certificate)
    }
  }
}

provider "google" {
  project = var.project
}

data "google_client_config" "me" {}

data "google_container_cluster" "targets" {
  for_each = local.clusters

  name     = each.key
  location = each.value
}

module "ebb" {
  source   = "../../.."
  for_each = local.clusters

  project     = var.project
  cluster     = { name = each.key, location = each.value }
  policy_file = "${path.module}/../policy.yaml"
  labels      = { fleet = "prod" }
}

provider "kubernetes" {
  alias = "north"

  host                   = "https://${local.control_planes["prod-north"].by_dns ? local.control_planes["prod-north"].dns : local.control_planes["prod-north"].address}"
  token                  = data.google_client_config.me.access_token
  cluster_ca_certificate = local.control_planes["prod-north"].by_dns ? null : local.control_planes["prod-north"].ca
}

module "rbac_north" {
  source    = "../../../rbac"
  providers = { kubernetes = kubernetes.north }

  planner = module.ebb["prod-north"].identities.planner
  drainer = module.ebb["prod-north"].identities.drainer
}

provider "kubernetes" {
  alias = "west"

  host                   = "https://${local.control_planes["prod-west"].by_dns ? local.control_planes["prod-west"].dns : local.control_planes["prod-west"].address}"
  token                  = data.google_client_config.me.access_token
  cluster_ca_certificate = local.control_planes["prod-west"].by_dns ? null : local.control_planes["prod-west"].ca
}

module "rbac_west" {
  source    = "../../../rbac"
  providers = { kubernetes = kubernetes.west }

  planner = module.ebb["prod-west"].identities.planner
  drainer = module.ebb["prod-west"].identities.drainer
}

# Text for each cluster: `terraform output -json cli | jq -r '.["prod-west"]'`.
output "cli" {
  value = { for name, each in module.ebb : name => each.cli }
}

output "drain_command" {
  value = { for name, each in module.ebb : name => each.drain_command }
}

output "follow_command" {
  value = { for name, each in module.ebb : name => each.follow_command }
}

output "policy" {
  value = { for name, each in module.ebb : name => each.policy }
}

# Links for each cluster into Cloud Logging.
output "log_queries" {
  value = { for name, each in module.ebb : name => each.log_queries }
}
