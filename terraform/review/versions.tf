# Saved queries are in the provider since version 7.
terraform {
  required_version = ">= 1.7"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 7.31, < 9"
    }
  }
}
