# Each precondition of a resource refuses. What inputs are refused is tested with the functions' tests.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "archive" {}
mock_provider "time" {}

variables {
  project = "my-project"
  cluster = { name = "prod", location = "europe-west1" }
}

run "two_policies" {
  command = plan

  variables {
    policy      = { dryRun = false }
    policy_file = "tests/mocks/policy.yaml"
  }

  expect_failures = [google_storage_bucket_object.policy]
}

run "a_misspelt_field_of_the_policy" {
  command = plan

  variables {
    policy = { nodePools = { default-pool = { enable = true } } }
  }

  expect_failures = [google_storage_bucket_object.policy]
}

run "more_drains_than_the_drainer_can_work_on" {
  command = plan

  variables {
    policy    = { cluster = { disruption = { budgets = [{ nodes = 60 }, { nodes = "10%" }] } } }
    functions = { drainer = { instances = 2 } }
  }

  expect_failures = [google_cloudfunctions2_function.functions["drainer"]]
}
