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

module "ebb" {
  source = "../.."

  project     = var.project
  cluster     = var.cluster
  policy_file = "${path.module}/policy.yaml"
  paused      = var.paused
  labels      = { fleet = "prod" }
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
