# One cluster whose control plane can be reached from the internet or by its DNS endpoint. Nothing is drained until the
# policy says `dryRun = false`.

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

provider "google" {
  project = var.project
}

module "ebb" {
  source = "../.."

  project = var.project
  cluster = var.cluster
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
