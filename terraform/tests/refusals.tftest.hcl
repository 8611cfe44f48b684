# Each check of the plan refuses. The sentences, and every validation by its line, are tested with the functions' tests.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "archive" {}
mock_provider "time" {}

variables {
  project = "my-project"
  cluster = { name = "prod", location = "europe-west1" }
}

run "inputs_out_of_range" {
  command = plan

  variables {
    project = "My Project"
    prefix  = "much-too-long"
    region  = "europe-west1-b"
    labels  = { Team = "x" }
  }

  expect_failures = [var.project, var.prefix, var.region, var.labels]
}

run "a_policy_that_could_not_be_parsed" {
  command = plan

  variables {
    policy = { nodePools = { default-pool = { minimumNodeAge = "20" } } }
  }

  expect_failures = [google_storage_bucket_object.policy]
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

  expect_failures = [google_cloudfunctions2_function.drainer]
}
