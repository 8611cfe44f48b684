# Ebb's weekly summary in a Slack channel and by e-mail, for an installation that is there. `function` posts what comes on the results
# topic; `alert` needs no code: a log line notifies channels of Cloud Monitoring. Take one of them or both.

terraform {
  required_version = ">= 1.7"

  required_providers {
    archive = {
      source  = "hashicorp/archive"
      version = ">= 2.4, < 3"
    }
    google = {
      source  = "hashicorp/google"
      version = ">= 6.13, < 9"
    }
    time = {
      source  = "hashicorp/time"
      version = ">= 0.11, < 1"
    }
  }
}

variable "project" {
  type = string
}

variable "region" {
  type = string
}

# Of the function and its account: another one for each further cluster of the project.
variable "name" {
  type    = string
  default = "ebb-slack"
}

# The output `results_topic` of the module, such as projects/P/topics/ebb-prod-0123456-results.
variable "results_topic" {
  type = string
}

# A bucket for the function's source, such as the installation's own.
variable "bucket" {
  type = string
}

# A secret of Secret Manager with the address of an incoming webhook.
variable "webhook_secret" {
  type    = string
  default = "ebb-slack-webhook"
}

# Full names of notification channels.
variable "channels" {
  type    = list(string)
  default = []
}

provider "google" {
  project = var.project
}

data "archive_file" "source" {
  type        = "zip"
  output_path = "${path.root}/.terraform/slack.zip"

  dynamic "source" {
    for_each = toset(["main.py", "requirements.txt"])
    content {
      filename = source.value
      content  = file("${path.module}/${source.value}")
    }
  }
}

# Triggers of functions need it; the installation itself does not.
resource "google_project_service" "eventarc" {
  service            = "eventarc.googleapis.com"
  disable_on_destroy = false
}

# A service that was just enabled does not answer at once.
resource "time_sleep" "eventarc" {
  create_duration = "90s"
  triggers        = { project = var.project }

  depends_on = [google_project_service.eventarc]
}

resource "google_storage_bucket_object" "source" {
  bucket = var.bucket
  name   = "${var.name}/${data.archive_file.source.output_sha256}.zip"
  source = data.archive_file.source.output_path
}

resource "google_service_account" "slack" {
  account_id   = var.name
  display_name = "Posts Ebb's weekly summary"
}

resource "google_secret_manager_secret_iam_member" "webhook" {
  secret_id = var.webhook_secret
  role      = "roles/secretmanager.secretAccessor"
  member    = "serviceAccount:${google_service_account.slack.email}"
}

resource "google_cloudfunctions2_function" "slack" {
  name     = var.name
  location = var.region

  build_config {
    runtime     = "python312"
    entry_point = "post"

    source {
      storage_source {
        bucket = var.bucket
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    service_account_email = google_service_account.slack.email
    available_memory      = "256Mi"
    max_instance_count    = 1

    secret_environment_variables {
      key        = "SLACK_WEBHOOK"
      project_id = var.project
      secret     = var.webhook_secret
      version    = "latest"
    }
  }

  event_trigger {
    trigger_region = var.region
    event_type     = "google.cloud.pubsub.topic.v1.messagePublished"
    pubsub_topic   = var.results_topic
    retry_policy   = "RETRY_POLICY_RETRY"

    # Else the default account of Compute Engine calls the function, which in many organizations may do nothing.
    service_account_email = google_service_account.slack.email
  }

  depends_on = [time_sleep.eventarc, google_secret_manager_secret_iam_member.webhook]
}

# Without it each push is answered with 403, and no message arrives (hashicorp/terraform-provider-google#13611).
resource "google_cloud_run_v2_service_iam_member" "trigger" {
  location = var.region
  name     = google_cloudfunctions2_function.slack.name
  role     = "roles/run.invoker"
  member   = "serviceAccount:${google_service_account.slack.email}"
}

resource "google_monitoring_alert_policy" "summary" {
  count = length(var.channels) > 0 ? 1 : 0

  display_name          = "Ebb's weekly summary"
  combiner              = "OR"
  notification_channels = var.channels

  conditions {
    display_name = "A week has ended"

    condition_matched_log {
      filter           = "resource.type=\"cloud_run_revision\" AND labels.event=\"weekly_summary\" AND jsonPayload.ended:*"
      label_extractors = { text = "EXTRACT(jsonPayload.message)" }
    }
  }

  documentation {
    content = "$${log.extracted_label.text}"
  }

  alert_strategy {
    auto_close = "1800s"

    notification_rate_limit {
      period = "300s"
    }
  }
}
