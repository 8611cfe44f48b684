# What would leave an installation without effect. These only warn: the person who applies may not be allowed to read the
# cluster, or the cluster may be made later.

check "the_cluster_can_be_served" {
  data "google_container_cluster" "target" {
    project  = local.cluster_project
    location = local.inputs.cluster.location
    name     = local.inputs.cluster.name
  }

  # Of one that is not there the provider makes an error, which is a warning here, or answers with nothing.
  assert {
    condition     = coalesce(data.google_container_cluster.target.self_link, "-") != "-"
    error_message = "cluster: ${local.cluster_id} was not found; correct name, location or project, or make it before the first pass."
  }
  assert {
    condition     = !try(data.google_container_cluster.target.enable_autopilot, false)
    error_message = "cluster: ${local.inputs.cluster.name} is an Autopilot cluster, whose nodes Google consolidates and does not bill; Ebb refuses it at the first pass."
  }
  assert {
    condition = local.environment.EBB_ENDPOINT != "dns" || try(
      data.google_container_cluster.target.control_plane_endpoints_config[0].dns_endpoint_config[0].allow_external_traffic, true
    )
    error_message = "network.endpoint: the DNS endpoint of ${local.inputs.cluster.name} admits no calls from outside its network; allow external traffic on it, or write a connector."
  }
  assert {
    condition = local.environment.EBB_ENDPOINT != "auto" || !try(
      data.google_container_cluster.target.private_cluster_config[0].enable_private_endpoint &&
      !data.google_container_cluster.target.control_plane_endpoints_config[0].dns_endpoint_config[0].allow_external_traffic,
      false,
    )
    error_message = "network: the control plane of ${local.inputs.cluster.name} has neither a public address nor an open DNS endpoint; open the DNS endpoint, or write network.connector."
  }
  # Cloud Run calls from addresses of Google's. An open DNS endpoint, which auto takes first, asks for none.
  assert {
    condition = !contains(["auto", "public"], local.environment.EBB_ENDPOINT) || try(
      local.environment.EBB_ENDPOINT == "auto" &&
      data.google_container_cluster.target.control_plane_endpoints_config[0].dns_endpoint_config[0].allow_external_traffic,
      false,
      ) || !try(
      !data.google_container_cluster.target.master_authorized_networks_config[0].gcp_public_cidrs_access_enabled &&
      !contains([for each in data.google_container_cluster.target.master_authorized_networks_config[0].cidr_blocks : each.cidr_block], "0.0.0.0/0"),
      false,
    )
    error_message = "network: the authorized networks of ${local.inputs.cluster.name} let in no address of Google Cloud's, from which the functions call; open the DNS endpoint, or write network.connector."
  }
  assert {
    condition = length(local.pools_named) == 0 || length(try(data.google_container_cluster.target.node_pool, [])) == 0 || length(setsubtract(
      local.pools_named, try(data.google_container_cluster.target.node_pool[*].name, [])
    )) == 0
    error_message = "policy.nodePools: ${local.inputs.cluster.name} has no pool ${join(", ", setsubtract(local.pools_named, try(data.google_container_cluster.target.node_pool[*].name, [])))}; write the names that `gcloud container node-pools list` prints."
  }
}

locals {
  pools_named = toset(try(keys(local.policy.nodePools), []))
}

check "what_the_policy_reads_is_granted" {
  assert {
    condition     = var.commitments || !try(local.policy.cluster.commitments.read, false)
    error_message = "commitments: the policy has cluster.commitments.read, and the planner may not list them; write commitments = true."
  }
}
