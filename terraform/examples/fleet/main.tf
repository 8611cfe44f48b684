# A fleet, one state for each cluster: a mistake reaches one cluster, and one apply waits for no other.
#
#   terraform init -reconfigure -backend-config=prefix=ebb/prod-west
#   terraform apply -var-file=clusters/prod-west.tfvars
#
# A directory one-state/ beside this shows the same with for_each, for fleets small enough to be applied together.

terraform {
  required_version = ">= 1.7"

  backend "gcs" {
    bucket = "my-terraform-states"
  }

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

variable "paused" {
  type    = bool
  default = false
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

  project     = var.project
  cluster     = var.cluster
  policy_file = "${path.module}/policy.yaml"
  paused      = var.paused
  labels      = { fleet = "prod" }
}

module "rbac" {
  source = "../../rbac"

  planner = module.ebb.identities.planner
  drainer = module.ebb.identities.drainer
}

output "ebb" {
  value = module.ebb
}

# As text of their own, for `terraform output -raw`; optional rights by their names, for `terraform output -json`.
output "cli" {
  value = module.ebb.cli
}

output "optional_rights" {
  value = module.ebb.optional_rights
}

output "policy" {
  value = module.ebb.policy
}

output "rbac" {
  value = module.ebb.rbac
}
