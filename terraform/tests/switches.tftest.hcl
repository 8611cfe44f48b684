# What an operator may choose, and what it changes.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "archive" {}
mock_provider "time" {}

variables {
  project = "my-project"
  cluster = { name = "prod", location = "europe-west1" }
}

run "shared_parts_are_taken_and_not_made" {
  command = plan

  variables {
    apis     = false
    bucket   = { create = false, name = "everybodys-bucket" }
    build    = { create = false, service_account = "builder@my-project.iam.gserviceaccount.com" }
    database = { create = false, name = "ebb-of-before" }
  }

  assert {
    condition = alltrue([
      length(google_project_service.apis) == 0,
      length(google_storage_bucket.ebb) == 0,
      length(google_firestore_database.state) == 0,
      length(google_service_account.accounts) == 4,
      length(google_project_iam_member.build) == 0,
      length(google_project_iam_member.build_source) == 0,
    ])
    error_message = "What is there already is not made again, and a builder that is there keeps its rights."
  }
  assert {
    condition = (
      google_storage_bucket_object.policy.bucket == "everybodys-bucket" &&
      output.policy_object == "gs://everybodys-bucket/policy/${local.name}.yaml" &&
      endswith(google_storage_bucket_iam_member.policy["planner"].condition[0].expression, "\"projects/_/buckets/everybodys-bucket/objects/policy/${local.name}.yaml\"")
    )
    error_message = "In a shared bucket each cluster has its own policy, and its functions read that alone."
  }
  assert {
    condition = (
      output.database == "ebb-of-before" &&
      alltrue([for field in google_firestore_field.expiry : field.database == "ebb-of-before"]) &&
      google_project_iam_member.state["drainer"].condition[0].expression == "resource.name == \"projects/my-project/databases/ebb-of-before\""
    )
    error_message = "A database of before is used by its name."
  }
  assert {
    condition     = google_cloudfunctions2_function.functions["planner"].build_config[0].service_account == "projects/my-project/serviceAccounts/builder@my-project.iam.gserviceaccount.com"
    error_message = "The shared builder builds."
  }
}

run "committed_use_is_listed_by_the_planner_alone" {
  command = plan

  override_resource {
    target          = google_service_account.accounts["planner"]
    override_during = plan
    values          = { member = "serviceAccount:planner" }
  }

  variables {
    cluster     = { name = "prod", location = "europe-west1", project = "clusters-project" }
    commitments = true
  }

  assert {
    condition = (
      google_project_iam_custom_role.commitments[0].permissions == toset(["compute.commitments.list"]) &&
      google_project_iam_custom_role.commitments[0].project == "clusters-project" &&
      google_project_iam_member.commitments[0].project == "clusters-project" &&
      google_project_iam_member.commitments[0].member == "serviceAccount:planner"
    )
    error_message = "The planner may list commitments in the cluster's project, and nothing else."
  }
  assert {
    condition     = contains(keys(google_project_service.apis), "compute")
    error_message = "Listing commitments needs the Compute API."
  }
}

run "a_policy_that_reads_commitments_without_the_right_is_a_warning" {
  command = plan

  variables {
    policy = { cluster = { commitments = { read = true } }, nodePools = { default-pool = { enabled = true } } }
  }

  expect_failures = [check.what_the_policy_reads_is_granted]
}

run "without_the_option_nobody_may_list_committed_use" {
  command = plan

  assert {
    condition     = length(google_project_iam_custom_role.commitments) == 0 && length(google_project_iam_member.commitments) == 0
    error_message = "The right is granted only if it is asked for."
  }
}

run "a_private_cluster_is_reached_through_a_connector" {
  command = plan

  variables {
    network = { connector = "projects/my-project/locations/europe-west1/connectors/to-prod" }
  }

  assert {
    condition = alltrue([
      for function in google_cloudfunctions2_function.functions :
      local.environment.EBB_ENDPOINT == "private" &&
      function.service_config[0].vpc_connector == "projects/my-project/locations/europe-west1/connectors/to-prod" &&
      function.service_config[0].vpc_connector_egress_settings == "PRIVATE_RANGES_ONLY"
    ])
    error_message = "With a way into the cluster's network the private endpoint is used."
  }
}

run "without_a_connector_the_endpoint_is_chosen_by_the_function" {
  command = plan

  assert {
    condition     = local.environment.EBB_ENDPOINT == "auto" && google_cloudfunctions2_function.functions["drainer"].service_config[0].vpc_connector == null
    error_message = "Without a connector nothing goes through a network."
  }
}

run "everything_that_is_kept_is_encrypted_with_the_key" {
  command = plan

  variables {
    encryption = {
      key        = "projects/keys/locations/europe-west1/keyRings/r/cryptoKeys/k"
      repository = "projects/my-project/locations/europe-west1/repositories/functions"
      database   = true
    }
  }

  assert {
    condition = alltrue(concat(
      [for topic in google_pubsub_topic.topics : topic.kms_key_name == var.encryption.key],
      [for function in google_cloudfunctions2_function.functions :
        function.kms_key_name == var.encryption.key &&
      function.build_config[0].docker_repository == var.encryption.repository],
      [
        google_storage_bucket.ebb[0].encryption[0].default_kms_key_name == var.encryption.key,
        google_firestore_database.state[0].cmek_config[0].kms_key_name == var.encryption.key,
      ],
    ))
    error_message = "Bucket, topics, database and functions have the key."
  }
  assert {
    condition = toset([for each in google_kms_crypto_key_iam_member.agents : each.member]) == toset([
      for agent in ["gcf-admin-robot", "gcp-sa-artifactregistry", "gcp-sa-firestore", "gcp-sa-pubsub", "gs-project-accounts", "serverless-robot-prod"] :
      "serviceAccount:service-123456789012@${agent}.iam.gserviceaccount.com"
    ])
    error_message = "Google's agents may use the key, and nobody else."
  }
}

run "a_key_leaves_the_database_alone" {
  command = plan

  variables {
    encryption = {
      key        = "projects/keys/locations/europe-west1/keyRings/r/cryptoKeys/k"
      repository = "projects/my-project/locations/europe-west1/repositories/functions"
    }
  }

  assert {
    condition = (
      length(google_firestore_database.state[0].cmek_config) == 0 &&
      !contains([for each in google_kms_crypto_key_iam_member.agents : strcontains(each.member, "firestore")], true)
    )
    error_message = "Firestore takes keys of few projects only; it is asked for by its own word."
  }
}

run "what_an_organisation_brings" {
  command = plan

  variables {
    identities = {
      planner = "planner@identities.iam.gserviceaccount.com"
      push    = "push@my-project.iam.gserviceaccount.com"
    }
    build     = { worker_pool = "projects/my-project/locations/europe-west1/workerPools/private" }
    functions = { binary_authorization = "default" }
    encryption = {
      key        = "projects/keys/locations/europe-west1/keyRings/r/cryptoKeys/k"
      repository = "projects/my-project/locations/europe-west1/repositories/functions"
      grant      = false
    }
  }

  assert {
    condition     = length(google_kms_crypto_key_iam_member.agents) == 0
    error_message = "grant = false grants nothing."
  }

  assert {
    condition = (
      toset(keys(google_service_account.accounts)) == toset(["build", "drainer", "scheduler"]) &&
      google_cloudfunctions2_function.functions["planner"].service_config[0].service_account_email == "planner@identities.iam.gserviceaccount.com" &&
      google_project_iam_member.control_plane["planner"].member == "serviceAccount:planner@identities.iam.gserviceaccount.com" &&
      google_service_account_iam_member.push_token.service_account_id == "projects/-/serviceAccounts/push@my-project.iam.gserviceaccount.com"
    )
    error_message = "A given account is not made, and gets the rights."
  }
  assert {
    condition = alltrue([
      for function in google_cloudfunctions2_function.functions :
      function.build_config[0].worker_pool == var.build.worker_pool &&
      function.service_config[0].binary_authorization_policy == "default"
    ])
    error_message = "Both functions are built in the pool, and admitted by the policy."
  }
}

run "a_pause_is_written_into_the_policy_and_the_planner_is_still_called" {
  command = plan

  variables {
    paused = true
    policy = { paused = false, dryRun = false, nodePools = { default-pool = { enabled = true } } }
  }

  assert {
    condition     = yamldecode(output.policy) == { dryRun = false, paused = true, nodePools = { default-pool = { enabled = true } } }
    error_message = "paused = true overrules the policy and changes nothing else."
  }
  assert {
    condition     = google_cloud_scheduler_job.planner.paused == false
    error_message = "The planner also heals; it is always called."
  }
}

run "the_week_may_end_at_another_hour" {
  command = plan

  variables {
    schedule = { weekly_summary = { day = "fri", hour = 16, time_zone = "Europe/Amsterdam" } }
  }

  assert {
    condition = (
      google_cloud_scheduler_job.weekly[0].schedule == "0 16 * * fri" &&
      google_cloud_scheduler_job.weekly[0].time_zone == "Europe/Amsterdam" &&
      google_cloudfunctions2_function.functions["planner"].service_config[0].environment_variables["EBB_WEEKLY_SUMMARY"] == "fri 16 Europe/Amsterdam"
    )
    error_message = "Job and planner mean the same hour."
  }
}

run "no_weekly_summary_needs_no_job" {
  command = plan

  variables {
    schedule = { weekly_summary = { enabled = false } }
  }

  assert {
    condition = (
      length(google_cloud_scheduler_job.weekly) == 0 &&
      google_cloudfunctions2_function.functions["planner"].service_config[0].environment_variables["EBB_WEEKLY_SUMMARY"] == "off"
    )
    error_message = "Without the summary there is no job, and the planner publishes none."
  }
}

run "the_schedule_may_be_written_out" {
  command = plan

  variables {
    schedule = { cron = "*/10 6-23 * * *", every_minutes = 10, longest_gap_minutes = 370, time_zone = "Europe/Amsterdam" }
  }

  assert {
    condition = (
      google_cloud_scheduler_job.planner.schedule == "*/10 6-23 * * *" &&
      google_cloud_scheduler_job.planner.time_zone == "Europe/Amsterdam" &&
      local.interval_minutes == 370 &&
      google_cloudfunctions2_function.functions["planner"].service_config[0].environment_variables["EBB_INTERVAL_SECONDS"] == "600"
    )
    error_message = "An explicit schedule is used as it stands."
  }
}

run "sizes_are_chosen_and_the_deadlines_follow" {
  command = plan

  variables {
    functions = {
      planner = { cpu = "2", memory = "4Gi", timeout_seconds = 900 }
      drainer = { instances = 50, timeout_seconds = 300, step_seconds = 240 }
    }
    region = "europe-west4"
  }

  assert {
    condition = (
      google_cloud_scheduler_job.planner.attempt_deadline == "920s" &&
      google_cloud_scheduler_job.planner.region == "europe-west4" &&
      google_cloudfunctions2_function.functions["planner"].service_config[0].environment_variables["EBB_PASS_SECONDS"] == "960" &&
      google_cloudfunctions2_function.functions["drainer"].service_config[0].environment_variables["EBB_STEP_SECONDS"] == "240" &&
      google_cloudfunctions2_function.functions["drainer"].service_config[0].max_instance_count == 50
    )
    error_message = "Every deadline follows the one that it must exceed."
  }
}

run "a_cluster_that_is_not_found_is_warned_of" {
  command         = plan
  expect_failures = [check.the_cluster_can_be_served]

  override_data {
    target = data.google_container_cluster.target
    values = { self_link = "" }
  }
}

run "an_autopilot_cluster_is_warned_of" {
  command         = plan
  expect_failures = [check.the_cluster_can_be_served]

  override_data {
    target = data.google_container_cluster.target
    values = { name = "prod", enable_autopilot = true }
  }
}

run "a_closed_dns_endpoint_is_warned_of" {
  command         = plan
  expect_failures = [check.the_cluster_can_be_served]

  override_data {
    target = data.google_container_cluster.target
    values = { name = "prod", control_plane_endpoints_config = [{ dns_endpoint_config = [{ allow_external_traffic = false }] }] }
  }

  variables {
    network = { endpoint = "dns" }
  }
}

run "a_control_plane_without_a_way_in_is_warned_of" {
  command         = plan
  expect_failures = [check.the_cluster_can_be_served]

  override_data {
    target = data.google_container_cluster.target
    values = {
      name                           = "prod"
      private_cluster_config         = [{ enable_private_endpoint = true }]
      control_plane_endpoints_config = [{ dns_endpoint_config = [{ allow_external_traffic = false }] }]
    }
  }
}

run "authorized_networks_without_google_clouds_addresses_are_warned_of" {
  command         = plan
  expect_failures = [check.the_cluster_can_be_served]

  override_data {
    target = data.google_container_cluster.target
    values = {
      name                              = "prod"
      control_plane_endpoints_config    = [{ dns_endpoint_config = [{ allow_external_traffic = false }] }]
      master_authorized_networks_config = [{ gcp_public_cidrs_access_enabled = false, cidr_blocks = [{ cidr_block = "192.0.2.0/24", display_name = "office" }] }]
    }
  }
}

run "an_open_dns_endpoint_asks_for_no_address" {
  command = plan

  override_data {
    target = data.google_container_cluster.target
    values = {
      name                              = "prod"
      control_plane_endpoints_config    = [{ dns_endpoint_config = [{ allow_external_traffic = true }] }]
      master_authorized_networks_config = [{ gcp_public_cidrs_access_enabled = false, cidr_blocks = [{ cidr_block = "192.0.2.0/24", display_name = "office" }] }]
    }
  }

  assert {
    condition     = local.environment.EBB_ENDPOINT == "auto"
    error_message = "Without a word the DNS endpoint is taken first."
  }
}

run "a_pool_that_is_not_there_is_warned_of" {
  command         = plan
  expect_failures = [check.the_cluster_can_be_served]

  override_data {
    target = data.google_container_cluster.target
    values = { name = "prod", node_pool = [{ name = "default-pool" }] }
  }

  variables {
    policy = { nodePools = { default-pool = { enabled = true }, defualt-pool = { enabled = true } } }
  }
}

run "behind_a_connector_a_closed_control_plane_is_no_matter" {
  command = plan

  override_data {
    target = data.google_container_cluster.target
    values = {
      name                           = "prod"
      node_pool                      = [{ name = "default-pool" }]
      private_cluster_config         = [{ enable_private_endpoint = true }]
      control_plane_endpoints_config = [{ dns_endpoint_config = [{ allow_external_traffic = false }] }]
    }
  }

  # Of a Shared VPC's host project, with everything going through it.
  variables {
    network = { connector = "projects/host-project/locations/europe-west1/connectors/shared", egress = "ALL_TRAFFIC" }
    policy  = { nodePools = { default-pool = { enabled = true } } }
  }

  assert {
    condition = alltrue([
      for function in google_cloudfunctions2_function.functions :
      function.service_config[0].vpc_connector == "projects/host-project/locations/europe-west1/connectors/shared" &&
      function.service_config[0].vpc_connector_egress_settings == "ALL_TRAFFIC"
    ])
    error_message = "Both functions go through the host project's connector."
  }
}

run "the_archive_of_a_release_is_uploaded_as_it_is" {
  command = plan

  variables {
    functions = { archive = "tests/mocks/functions.zip" }
  }

  assert {
    condition = (
      length(data.archive_file.source) == 0 &&
      google_storage_bucket_object.source.source == "tests/mocks/functions.zip" &&
      google_storage_bucket_object.source.name == "source/${local.name}/${filesha256("tests/mocks/functions.zip")}.zip"
    )
    error_message = "Nothing is packed, and the name is the file's own hash on every machine."
  }
}
