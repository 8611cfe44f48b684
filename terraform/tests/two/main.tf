# Two clusters that differ only in their location, in one project and one state, for the tests.

# Named here so that the test's mocks reach the modules below.
terraform {
  required_providers {
    archive = { source = "hashicorp/archive" }
    google  = { source = "hashicorp/google" }
    time    = { source = "hashicorp/time" }
  }
}

module "one" {
  source = "../.."

  project = "my-project"
  cluster = { name = "a-rather-long-name-of-a-cluster", location = "europe-west1-b" }
}

module "other" {
  source = "../.."

  project = "my-project"
  cluster = { name = "a-rather-long-name-of-a-cluster", location = "europe-west1-c" }
}

output "names" {
  value = [
    for each in [module.one, module.other] :
    toset(concat(
      [each.name, each.database, each.planner.name, each.drainer.name, each.policy_object],
    ))
  ]
}
