# No provider blocks: the caller chooses project and identity.
terraform {
  required_version = ">= 1.7"

  required_providers {
    archive = {
      source  = "hashicorp/archive"
      version = ">= 2.4, < 3"
    }
    google = {
      source  = "hashicorp/google"
      version = ">= 6.13, < 9"
    }
    time = {
      source  = "hashicorp/time"
      version = ">= 0.11, < 1"
    }
  }
}
