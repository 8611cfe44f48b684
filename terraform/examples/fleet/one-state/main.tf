# A small fleet in one state: one apply for all, each cluster with its own database, identities, queue and bucket.

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

variable "clusters" {
  description = "By name; the location of each."
  type        = map(string)
  default = {
    prod-north = "europe-north1"
    prod-west  = "europe-west1"
  }
}

provider "google" {
  project = var.project
}

module "ebb" {
  source   = "../../.."
  for_each = var.clusters

  project     = var.project
  cluster     = { name = each.key, location = each.value }
  policy_file = "${path.module}/../policy.yaml"
  labels      = { fleet = "prod" }
}

output "ebb" {
  value = module.ebb
}

# Text for each cluster: `terraform output -json rbac | jq -r '.["prod-west"]' | kubectl apply -f -`.
output "cli" {
  value = { for name, each in module.ebb : name => each.cli }
}

output "policy" {
  value = { for name, each in module.ebb : name => each.policy }
}

output "rbac" {
  value = { for name, each in module.ebb : name => each.rbac }
}
