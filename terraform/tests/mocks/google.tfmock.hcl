# What Google's API would answer, for `mock_provider "google" { source = "./tests/mocks" }`.

mock_resource "google_service_account" {
  defaults = {
    name   = "projects/my-project/serviceAccounts/ebb@my-project.iam.gserviceaccount.com"
    email  = "ebb@my-project.iam.gserviceaccount.com"
    member = "serviceAccount:ebb@my-project.iam.gserviceaccount.com"
  }
}

mock_resource "google_pubsub_topic" {
  defaults = {
    id = "projects/my-project/topics/ebb"
  }
}

mock_resource "google_vpc_access_connector" {
  defaults = {
    id = "projects/my-project/locations/europe-west1/connectors/ebb"
  }
}

mock_data "google_project" {
  defaults = {
    number = "123456789012"
  }
}

mock_data "google_container_cluster" {
  defaults = {
    name                           = "prod"
    enable_autopilot               = false
    control_plane_endpoints_config = [{ dns_endpoint_config = [{ endpoint = "gke-1.europe-west1.gke.goog", allow_external_traffic = true }] }]
    private_cluster_config         = [{ enable_private_endpoint = false, private_endpoint = "10.0.0.2" }]
    master_auth                    = [{ cluster_ca_certificate = "Y2VydGlmaWNhdGU=" }]
    node_pool                      = []
  }
}
