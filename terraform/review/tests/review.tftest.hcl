mock_provider "google" {}

variables {
  projects = ["shop-prod", "shop-stage"]
}

run "each_project_counts_the_lines_of_all_its_clusters" {
  command = plan

  assert {
    condition     = length(google_logging_metric.fleet) == 2 * length(local.fleet.metrics)
    error_message = "Every metric is made in every project."
  }
  assert {
    condition = alltrue([
      for each in google_logging_metric.fleet :
      each.label_extractors["cluster"] == "EXTRACT(labels.cluster)" && startswith(each.name, "ebb-fleet/") &&
      (each.value_extractor != null) == (each.metric_descriptor[0].value_type == "DISTRIBUTION")
    ])
    error_message = "A metric has the cluster as a label."
  }
}

run "dashboard_and_queries_are_in_the_first_project" {
  command = plan

  assert {
    condition = (
      google_monitoring_dashboard.fleet.project == "shop-prod" &&
      alltrue([for each in google_logging_saved_query.queries : each.parent == "projects/shop-prod" && each.visibility == "SHARED"])
    )
    error_message = "People find them in one place."
  }
  assert {
    condition = alltrue([
      for tile in jsondecode(google_monitoring_dashboard.fleet.dashboard_json).mosaicLayout.tiles :
      tile.widget.logsPanel.resourceNames == ["projects/shop-prod", "projects/shop-stage"] if can(tile.widget.logsPanel)
    ])
    error_message = "Log panels read every project."
  }
}

run "no_project_is_refused" {
  command = plan

  variables {
    projects = []
  }

  expect_failures = [var.projects]
}

run "lines_are_kept_in_bigquery_only_where_a_dataset_is_named" {
  command = plan

  assert {
    condition     = length(google_logging_project_sink.weeks) + length(google_bigquery_dataset.weeks) + length(output.queries) == 0
    error_message = "Without a dataset nothing is made."
  }
}

run "each_project_writes_into_the_dataset_of_the_first" {
  command = plan

  variables {
    dataset = "ebb_weeks"
  }

  assert {
    condition = (
      google_bigquery_dataset.weeks[0].project == "shop-prod" &&
      alltrue([
        for sink in google_logging_project_sink.weeks :
        sink.destination == "bigquery.googleapis.com/projects/shop-prod/datasets/ebb_weeks" && sink.unique_writer_identity
      ]) &&
      toset(keys(google_bigquery_dataset_iam_member.writers)) == toset(["shop-prod", "shop-stage"])
    )
    error_message = "Each project has a sink, and its writer may write."
  }
  assert {
    condition = (
      toset(keys(output.queries)) == toset(["nodes-and-money", "reasons"]) &&
      alltrue([for query in output.queries : strcontains(query, "`shop-prod.ebb_weeks.run_googleapis_com_stdout`")])
    )
    error_message = "The queries name the table of the dataset."
  }
}
