# Lines that are worth keeping longer than Cloud Logging does: summaries, missed savings, and passes to divide by. For SQL, and for
# spreadsheets and dashboards that read BigQuery.

locals {
  kept = var.dataset == null ? [] : var.projects
  # Cloud Logging names the table by the log: what a function writes to stdout.
  table = "${local.first}.${coalesce(var.dataset, "none")}.run_googleapis_com_stdout"
}

resource "google_bigquery_dataset" "weeks" {
  count = var.dataset == null ? 0 : 1

  project     = local.first
  dataset_id  = var.dataset
  location    = var.dataset_location
  description = "Ebb's weekly summaries and missed savings, by Cloud Logging"
}

resource "google_logging_project_sink" "weeks" {
  for_each = toset(local.kept)

  project                = each.value
  name                   = "${var.name}-weeks"
  description            = "Ebb's weekly summaries and missed savings for BigQuery"
  destination            = "bigquery.googleapis.com/projects/${local.first}/datasets/${google_bigquery_dataset.weeks[0].dataset_id}"
  filter                 = "resource.type=\"cloud_run_revision\" AND labels.event=(\"weekly_summary\" OR \"missed_saving\" OR \"cluster_state\")"
  unique_writer_identity = true

  bigquery_options {
    use_partitioned_tables = true
  }
}

resource "google_bigquery_dataset_iam_member" "writers" {
  for_each = toset(local.kept)

  project    = local.first
  dataset_id = google_bigquery_dataset.weeks[0].dataset_id
  role       = "roles/bigquery.dataEditor"
  member     = google_logging_project_sink.weeks[each.value].writer_identity
}
