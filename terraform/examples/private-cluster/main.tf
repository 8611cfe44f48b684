# A cluster without a public endpoint. Its DNS endpoint is reached without any network, guarded by IAM; where that is not
# allowed, `through = "connector"` makes a way into the cluster's own network, whose subnet must be one of the control
# plane's authorized networks. The rights in the cluster are applied by Terraform, from where Terraform runs.

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
    time = {
      source  = "hashicorp/time"
      version = ">= 0.11, < 1"
    }
  }
}

variable "project" {
  type = string
}

variable "cluster" {
  type = object({ name = string, location = string })
}

variable "through" {
  type    = string
  default = "dns"

  validation {
    condition     = contains(["connector", "dns"], var.through)
    error_message = "through: write dns or connector."
  }
}

variable "subnet" {
  description = "A subnet of the cluster's network, of size /28 and used by nothing else, for the connector."
  type        = string
  default     = null
}

locals {
  region = join("-", slice(split("-", var.cluster.location), 0, 2))
}

provider "google" {
  project = var.project
}

data "google_client_config" "me" {}

data "google_container_cluster" "target" {
  name     = var.cluster.name
  location = var.cluster.location
}

# Terraform itself must reach the endpoint that is open: DNS from anywhere, the private one from inside the network.
provider "kubernetes" {
  host = "https://${
    var.through == "dns"
    ? data.google_container_cluster.target.control_plane_endpoints_config[0].dns_endpoint_config[0].endpoint
    : data.google_container_cluster.target.private_cluster_config[0].private_endpoint
  }"
  token                  = data.google_client_config.me.access_token
  cluster_ca_certificate = var.through == "dns" ? null : base64decode(data.google_container_cluster.target.master_auth[0].cluster_ca_certificate)
}

resource "google_project_service" "vpcaccess" {
  count = var.through == "connector" ? 1 : 0

  service            = "vpcaccess.googleapis.com"
  disable_on_destroy = false
}

# A service that was just enabled does not answer at once.
resource "time_sleep" "vpcaccess" {
  count = var.through == "connector" ? 1 : 0

  create_duration = "90s"
  triggers        = { project = var.project }

  depends_on = [google_project_service.vpcaccess]
}

resource "google_vpc_access_connector" "to_cluster" {
  count = var.through == "connector" ? 1 : 0

  name          = "ebb-to-cluster"
  region        = local.region
  machine_type  = "e2-micro"
  min_instances = 2
  max_instances = 3

  subnet {
    name = var.subnet
  }

  depends_on = [time_sleep.vpcaccess]

  lifecycle {
    precondition {
      condition     = var.subnet != null
      error_message = "subnet: write the name of a /28 subnet of the cluster's network, for through = \"connector\"."
    }
  }
}

module "ebb" {
  source = "../.."

  project = var.project
  cluster = var.cluster
  network = {
    endpoint  = var.through == "dns" ? "dns" : "private"
    connector = one(google_vpc_access_connector.to_cluster[*].id)
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
