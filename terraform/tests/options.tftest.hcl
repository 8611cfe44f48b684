# What options bring with them, in one plan. switches.tftest.hcl has them one by one.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "archive" {}
mock_provider "time" {}

variables {
  project = "my-project"
  cluster = { name = "prod", location = "europe-west1" }
}

run "an_installation_behind_a_connector" {
  command = plan

  variables {
    bucket      = { force_destroy = false }
    commitments = true
    functions   = { binary_authorization = "default" }
    network     = { connector = "projects/my-project/locations/europe-west1/connectors/c" }
    schedule    = { region = "europe-west3" }
  }

  assert {
    condition = (
      setintersection(keys(google_project_service.apis), ["binaryauthorization", "cloudkms", "vpcaccess"]) == toset(["binaryauthorization", "vpcaccess"])
    )
    error_message = "An option's API is enabled with it, and no other."
  }
  assert {
    condition = (
      google_cloud_scheduler_job.planner.region == "europe-west3" &&
      google_cloudfunctions2_function.functions["planner"].location == "europe-west1"
    )
    error_message = "Cloud Scheduler may lie in another region, and it alone."
  }
  assert {
    condition     = google_storage_bucket.ebb[0].force_destroy == false
    error_message = "A bucket that others share stays when one installation goes."
  }
  assert {
    condition = toset(split(",", time_sleep.roles.triggers.permissions)) == setunion(
      google_project_iam_custom_role.control_plane.permissions, google_project_iam_custom_role.state.permissions,
      google_project_iam_custom_role.commitments[0].permissions,
    )
    error_message = "A permission more or less is waited for as a role is."
  }
}
