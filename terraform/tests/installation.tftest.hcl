# One installation with all its defaults: how many things of which kind, and the attributes that matter.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "archive" {}
mock_provider "time" {}

override_resource {
  target = google_cloudfunctions2_function.functions["planner"]
  values = {
    service_config = { uri = "https://planner.a.run.app" }
  }
}
override_resource {
  target = google_cloudfunctions2_function.functions["drainer"]
  values = {
    service_config = { uri = "https://drainer.a.run.app" }
  }
}
override_resource {
  target = google_service_account.accounts["push"]
  values = {
    name   = "projects/my-project/serviceAccounts/push@my-project.iam.gserviceaccount.com"
    email  = "push@my-project.iam.gserviceaccount.com"
    member = "serviceAccount:push@my-project.iam.gserviceaccount.com"
  }
}
override_resource {
  target = google_service_account.accounts["scheduler"]
  values = {
    name   = "projects/my-project/serviceAccounts/tick@my-project.iam.gserviceaccount.com"
    email  = "tick@my-project.iam.gserviceaccount.com"
    member = "serviceAccount:tick@my-project.iam.gserviceaccount.com"
  }
}

variables {
  project = "my-project"
  cluster = { name = "prod", location = "europe-west1-b" }
  policy  = { nodePools = { default-pool = { enabled = true } } }
}

run "an_installation" {
  command = apply

  assert {
    condition = alltrue([
      length(google_service_account.accounts) == 5,
      length(google_pubsub_topic.topics) == 4,
      length(google_pubsub_subscription.kept) == 2,
      length(google_firestore_database.state) == 1,
      length(google_firestore_field.unindexed) == 16,
      length(google_firestore_field.expiry) == 3,
      length(google_storage_bucket.ebb) == 1,
      length(google_kms_crypto_key_iam_member.agents) == 0,
    ])
    error_message = "An installation has five identities, four topics, one database and one bucket."
  }

  assert {
    condition = alltrue([
      for function in google_cloudfunctions2_function.functions :
      function.location == "europe-west1" &&
      function.service_config[0].ingress_settings == "ALLOW_INTERNAL_ONLY" &&
      function.service_config[0].min_instance_count == 0 &&
      length(function.event_trigger) == 0
    ])
    error_message = "Both functions stand in the cluster's region, cost nothing at rest, and are called from within the project only."
  }

  assert {
    condition = (
      google_cloudfunctions2_function.functions["planner"].build_config[0].entry_point == "plan" &&
      google_cloudfunctions2_function.functions["planner"].service_config[0].max_instance_count == 1 &&
      google_cloudfunctions2_function.functions["planner"].service_config[0].max_instance_request_concurrency == 1
    )
    error_message = "One pass at a time."
  }

  assert {
    condition = (
      google_cloudfunctions2_function.functions["drainer"].build_config[0].entry_point == "drain" &&
      google_cloudfunctions2_function.functions["drainer"].service_config[0].available_cpu == "1" &&
      google_cloudfunctions2_function.functions["drainer"].service_config[0].available_memory == "512Mi" &&
      google_cloudfunctions2_function.functions["drainer"].service_config[0].max_instance_request_concurrency == 20 &&
      google_cloudfunctions2_function.functions["drainer"].service_config[0].environment_variables["THREADS"] == "20" &&
      google_cloudfunctions2_function.functions["drainer"].service_config[0].max_instance_count * 20 >= 500
    )
    error_message = "The drainer has 1 vCPU, as many threads as requests, and instances for 500 drains."
  }

  assert {
    condition = (
      tonumber(google_cloudfunctions2_function.functions["drainer"].service_config[0].environment_variables["EBB_STEP_SECONDS"]) <
      google_cloudfunctions2_function.functions["drainer"].service_config[0].timeout_seconds &&
      google_cloudfunctions2_function.functions["drainer"].service_config[0].timeout_seconds <
      google_pubsub_subscription.orders.ack_deadline_seconds &&
      google_pubsub_subscription.orders.ack_deadline_seconds == 60
    )
    error_message = "A step ends before its function, and the function before the order comes again."
  }

  assert {
    condition = (
      tonumber(trimsuffix(google_cloud_scheduler_job.planner.attempt_deadline, "s")) >=
      google_cloudfunctions2_function.functions["planner"].service_config[0].timeout_seconds &&
      tonumber(google_cloudfunctions2_function.functions["planner"].service_config[0].environment_variables["EBB_PASS_SECONDS"]) >
      google_cloudfunctions2_function.functions["planner"].service_config[0].timeout_seconds
    )
    error_message = "Cloud Scheduler waits for the planner's answer, and the planner's lease outlives the call."
  }

  assert {
    condition = (
      google_cloud_scheduler_job.planner.schedule == "3,8,13,18,23,28,33,38,43,48,53,58 * * * *" &&
      google_cloud_scheduler_job.planner.paused == false &&
      google_cloud_scheduler_job.planner.retry_config[0].retry_count == 0 &&
      google_cloud_scheduler_job.planner.http_target[0].http_method == "POST" &&
      google_cloud_scheduler_job.planner.http_target[0].uri == "https://planner.a.run.app" &&
      google_cloud_scheduler_job.planner.http_target[0].oidc_token[0].audience == "https://planner.a.run.app" &&
      google_cloud_scheduler_job.planner.http_target[0].oidc_token[0].service_account_email == "tick@my-project.iam.gserviceaccount.com"
    )
    error_message = "Cloud Scheduler calls the planner every five minutes, as itself, with a token for the planner alone."
  }

  assert {
    condition = (
      google_cloud_scheduler_job.weekly[0].schedule == "0 9 * * mon" &&
      google_cloud_scheduler_job.weekly[0].http_target[0].uri == "https://planner.a.run.app" &&
      base64decode(google_cloud_scheduler_job.weekly[0].http_target[0].body) == jsonencode({ only = "weekly_summary" }) &&
      google_cloudfunctions2_function.functions["planner"].service_config[0].environment_variables["EBB_WEEKLY_SUMMARY"] == "mon 9 Etc/UTC"
    )
    error_message = "Each week ends on Monday at nine; the planner knows that and is called then, for the summary alone."
  }

  assert {
    condition = (
      google_pubsub_subscription.orders.push_config[0].push_endpoint == "https://drainer.a.run.app" &&
      google_pubsub_subscription.orders.push_config[0].oidc_token[0].audience == "https://drainer.a.run.app" &&
      google_pubsub_subscription.orders.push_config[0].oidc_token[0].service_account_email == "push@my-project.iam.gserviceaccount.com" &&
      google_pubsub_subscription.orders.expiration_policy[0].ttl == "" &&
      google_pubsub_subscription.orders.dead_letter_policy[0].max_delivery_attempts == 100 &&
      google_pubsub_subscription.orders.retry_policy[0].minimum_backoff == "10s" &&
      google_pubsub_subscription.orders.enable_message_ordering != true
    )
    error_message = "Orders are pushed to the drainer with a token for it alone, a hundred times before they are dead, and the subscription never expires."
  }

  assert {
    condition     = alltrue([for each in google_pubsub_subscription.kept : each.expiration_policy[0].ttl == "" && length(each.push_config) == 0])
    error_message = "Dead letters and rejected messages are kept for a person to read."
  }

  assert {
    condition = (
      google_storage_bucket.ebb[0].uniform_bucket_level_access &&
      google_storage_bucket.ebb[0].public_access_prevention == "enforced" &&
      google_storage_bucket.ebb[0].versioning[0].enabled &&
      google_storage_bucket.ebb[0].lifecycle_rule[0].condition != null
    )
    error_message = "The bucket is versioned and can never be public."
  }

  assert {
    condition = (
      google_firestore_database.state[0].type == "FIRESTORE_NATIVE" &&
      google_firestore_database.state[0].deletion_policy == "DELETE" &&
      google_firestore_database.state[0].location_id == "europe-west1" &&
      toset([for field in google_firestore_field.expiry : "${field.collection}.${field.field}"]) == toset(["drains.expire_at", "runs.expire_at", "weeks.expire_at"]) &&
      alltrue([for field in google_firestore_field.expiry : length(field.ttl_config) == 1 && length(field.index_config[0].indexes) == 0]) &&
      alltrue([for field in google_firestore_field.unindexed : length(field.ttl_config) == 0 && length(field.index_config[0].indexes) == 0])
    )
    error_message = "Records of drains and ticks expire, and nothing is indexed."
  }

  assert {
    condition = (
      google_storage_bucket_object.source.name == "source/${local.name}/${data.archive_file.source[0].output_sha256}.zip" &&
      google_cloudfunctions2_function.functions["planner"].build_config[0].source[0].storage_source[0].object == google_storage_bucket_object.source.name &&
      google_cloudfunctions2_function.functions["drainer"].build_config[0].source[0].storage_source[0].object == google_storage_bucket_object.source.name
    )
    error_message = "Both functions are built from one archive, named by its hash."
  }

  assert {
    condition     = toset([for service in google_project_service.apis : service.disable_on_destroy]) == toset([false])
    error_message = "No API is switched off when Ebb goes."
  }

  assert {
    condition = (
      strcontains(output.optional_rights["surge"], local.identities["drainer"].email) &&
      strcontains(output.optional_rights["steer"], local.identities["planner"].email) &&
      alltrue([for name, text in output.optional_rights : !strcontains(text, "$${") && !strcontains(output.rbac, "-${name}")])
    )
    error_message = "Each optional right stands in an output of its own, filled in, and in no other."
  }
  assert {
    condition     = strcontains(output.cli, "EBB_CLUSTER='projects/my-project/locations/europe-west1-b/clusters/prod'") && strcontains(output.cli, "EBB_INTERVAL_SECONDS='300'")
    error_message = "The outputs say what the CLI needs."
  }
}
