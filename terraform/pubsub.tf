# orders: planner, drainer (continuations) and people → drainer. dead-letters: what the drainer could not take in a
# hundred attempts. rejected: what is no order. results: how each drain ended, for any subscriber.

locals {
  # When an order is delivered again whose request was lost: just after the drainer's own limit, at most Pub/Sub's 600.
  ack_deadline_seconds = local.inputs.functions.drainer.timeout_seconds + 5

  topics = {
    dead_letters = local.dead_letters_name
    orders       = local.orders_name
    rejected     = local.rejected_name
    results      = local.results_name
  }
  pubsub_agent = "serviceAccount:service-${data.google_project.this.number}@gcp-sa-pubsub.iam.gserviceaccount.com"
}

resource "google_pubsub_topic" "topics" {
  for_each = local.topics

  project      = var.project
  name         = each.value
  labels       = local.labels
  kms_key_name = local.inputs.encryption.key

  depends_on = [time_sleep.apis, google_kms_crypto_key_iam_member.agents]
}

resource "google_pubsub_subscription" "orders" {
  project              = var.project
  name                 = local.orders_name
  topic                = google_pubsub_topic.topics["orders"].id
  labels               = local.labels
  ack_deadline_seconds = local.ack_deadline_seconds

  # An order is claimed within ten minutes or never; the planner repeats what a day's outage has lost.
  message_retention_duration = "86400s"

  push_config {
    push_endpoint = google_cloudfunctions2_function.functions["drainer"].service_config[0].uri

    oidc_token {
      service_account_email = local.identities["push"].email
      audience              = google_cloudfunctions2_function.functions["drainer"].service_config[0].uri
    }
  }

  # 503 means: come again. The first time soon, for a lease ends soon; later seldom, for then it is an outage.
  retry_policy {
    minimum_backoff = "10s"
    maximum_backoff = "300s"
  }

  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.topics["dead_letters"].id
    max_delivery_attempts = 100
  }

  # A quiet cluster gives no order for weeks; by default the subscription would be gone after 31 days.
  expiration_policy {
    ttl = ""
  }

  depends_on = [google_service_account_iam_member.push_token, google_cloud_run_v2_service_iam_member.invokers["drainer"]]
}

# A topic without a subscription keeps nothing.
resource "google_pubsub_subscription" "kept" {
  for_each = toset(["dead_letters", "rejected"])

  project                    = var.project
  name                       = local.topics[each.key]
  topic                      = google_pubsub_topic.topics[each.key].id
  labels                     = local.labels
  message_retention_duration = "604800s"

  expiration_policy {
    ttl = ""
  }
}
