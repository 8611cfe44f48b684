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
