mock_provider "google" {}
mock_provider "archive" {}
mock_provider "time" {}

run "two_clusters_of_one_project_share_no_name" {
  command = plan

  module {
    source = "./tests/two"
  }

  assert {
    condition     = length(setintersection(output.names...)) == 0
    error_message = "Two clusters of one project share no name."
  }
}
