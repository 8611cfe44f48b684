output "cli" {
  description = "The variables of `ebb status`, `ebb drain`, `ebb pause` and similar commands: eval \"$(terraform output -raw cli)\"."
  value = join("\n", [
    for name in [
      "EBB_CLUSTER", "EBB_FIRESTORE_DATABASE", "EBB_INTERVAL_SECONDS", "EBB_POLICY", "EBB_STATE", "EBB_TOPIC", "GOOGLE_CLOUD_PROJECT",
    ] :
    "export ${name}='${local.environment[name]}'"
  ])
}

output "database" {
  description = "The Firestore database of the cluster's state."
  value       = local.database
}

output "drain_command" {
  description = "A drain by message, without `ebb`: write the node's name for NODE. It prints the order's id. docs/drain-by-message.md has the other fields."
  value       = "gcloud pubsub topics publish ${google_pubsub_topic.topics["orders"].id} --format 'value(messageIds[0])' --message '{\"node\": \"NODE\"}'"
}

output "drainer" {
  description = "The function that drains."
  value = {
    name            = google_cloudfunctions2_function.functions["drainer"].name
    service_account = local.identities["drainer"].email
    uri             = google_cloudfunctions2_function.functions["drainer"].service_config[0].uri
  }
}

output "follow_command" {
  description = "What became of an order: write its id for ID."
  value       = "gcloud logging read 'operation.id=\"ID\" OR jsonPayload.message_id=\"ID\"' --project ${var.project} --freshness 1d --order asc --format 'value(timestamp, labels.event, jsonPayload.outcome, labels.reason, jsonPayload.message)'"
}

output "identities" {
  description = "The e-mail addresses of the two functions, known before the functions are there: the submodule rbac takes them, so that their rights come first."
  value = {
    drainer = local.identities["drainer"].email
    planner = local.identities["planner"].email
  }
}

output "log_queries" {
  description = "Links into Cloud Logging. For one node add labels.node=\"NAME\"."
  value = {
    for name, filter in {
      everything = "labels.cluster=\"${local.cluster_id}\""
      last_pass  = "labels.cluster=\"${local.cluster_id}\" labels.event=\"run_summary\""
      verdicts   = "labels.cluster=\"${local.cluster_id}\" labels.event=\"node_decision\""
    } :
    name => "https://console.cloud.google.com/logs/query;query=${urlencode(filter)}?project=${var.project}"
  }
}

output "name" {
  description = "What the names of this installation begin with."
  value       = local.name
}

output "optional_rights" {
  description = "The extra rights of options by name, each with its admission policy: terraform output -json optional_rights | jq -r .surge | kubectl apply -f -. The submodule rbac makes the same of its input optional_rights."
  value = {
    for file in fileset("${local.root}/infra/options", "*.yaml") : trimsuffix(file, ".yaml") => replace(
      templatefile("${local.root}/infra/options/${file}", {
        drainer = local.identities["drainer"].email
        planner = local.identities["planner"].email
      }), "/(?m)^#.*\n/", ""
    )
  }
}

output "planner" {
  description = "The function that plans."
  value = {
    name            = google_cloudfunctions2_function.functions["planner"].name
    schedule        = google_cloud_scheduler_job.planner.schedule
    service_account = local.identities["planner"].email
    uri             = google_cloudfunctions2_function.functions["planner"].service_config[0].uri
  }
}

output "policy" {
  description = "The policy as it is written, for `ebb policy check`."
  value       = local.policy_document
}

output "policy_object" {
  description = "Where the functions read the policy."
  value       = local.policy_uri
}

output "rbac" {
  description = "What the functions may do inside the cluster, and the admission policies for the drainer's identity: terraform output -raw rbac | kubectl apply -f -. The submodule rbac makes the same."
  # Without the files' own comments, which explain how to fill them by hand.
  value = join("---\n", [
    for file in ["rbac", "admission"] : replace(templatefile("${local.root}/infra/${file}.yaml", {
      drainer = local.identities["drainer"].email
      planner = local.identities["planner"].email
    }), "/(?m)^#.*\n/", "")
  ])
}

output "results_topic" {
  description = "The topic of results and weekly summaries, for a subscription of yours."
  value       = google_pubsub_topic.topics["results"].id
}

output "topics" {
  description = "Orders, dead letters, what is no order, and results."
  value       = { for key, topic in google_pubsub_topic.topics : key => topic.id }
}
