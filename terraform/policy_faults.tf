# What a plan refuses of a policy: a field that does not exist, for one misspelt word makes the whole policy void at the next
# pass, and more bytes than the functions read. Values, and what is missing, are for `ebb policy check`.

locals {
  policy_schema = jsondecode(file("${local.root}/infra/policy.schema.json"))
  policy_kinds  = merge(local.policy_schema["$defs"], { Policy = local.policy_schema })

  # Every mapping of the document by its path: what the schema calls it, and what it holds. A try() passes over what is
  # absent, or of another kind than it should be.
  pools = merge(
    { defaults = try(local.policy.defaults, null) },
    { for name, pool in try(merge(local.policy.nodePools, {}), {}) : "nodePools.${name}" => pool },
  )
  disruptions = merge(
    { cluster = ["CeilingSection", try(local.policy.cluster.disruption, null)] },
    { for path, pool in local.pools : path => ["DisruptionSection", try(pool.disruption, null)] },
  )
  policy_sections = concat(
    [
      ["", "Policy", local.policy],
      ["cluster.", "ClusterSection", try(local.policy.cluster, null)],
      ["cluster.rate.", "RateSection", try(local.policy.cluster.rate, null)],
      ["cluster.evictionsPerNamespace.", "NamespaceRateSection", try(local.policy.cluster.evictionsPerNamespace, null)],
      ["cluster.wave.", "WaveSection", try(local.policy.cluster.wave, null)],
      ["cluster.commitments.", "CommitmentsSection", try(local.policy.cluster.commitments, null)],
      ["cluster.commitments.flexible.", "FlexibleCommitmentSection", try(local.policy.cluster.commitments.flexible, null)],
      ["drain.", "DrainSection", try(local.policy.drain, null)],
      ["drain.backoff.", "BackoffSection", try(local.policy.drain.backoff, null)],
      ["manual.", "ManualSection", try(local.policy.manual, null)],
    ],
    [for index, freeze in try(concat(local.policy.cluster.freezes, []), []) : ["cluster.freezes[${index}].", "FreezeSection", freeze]],
    [for family, each in try(merge(local.policy.cluster.commitments.families, {}), {}) : ["cluster.commitments.families.${family}.", "CommitmentSection", each]],
    [for family, each in try(merge(local.policy.cluster.commitments.elsewhere, {}), {}) : ["cluster.commitments.elsewhere.${family}.", "UsedElsewhereSection", each]],
    [for path, pool in local.pools : ["${path}.", "PoolSection", pool]],
    [for path, pool in local.pools : ["${path}.rate.", "RateSection", try(pool.rate, null)]],
    [for path, section in local.disruptions : ["${path}.disruption.", section[0], section[1]]],
    flatten([
      for path, section in local.disruptions : [
        for list, kind in { budgets = "BudgetSection", windows = "ScheduleSection" } : [
          for index, each in try(concat(section[1][list], []), []) : { row = ["${path}.disruption.${list}[${index}].", kind, each] }
        ]
      ]
    ])[*].row,
  )

  # length() counts letters; of base64 four are three bytes, less those that fill the last four up.
  policy_base64     = base64encode(local.policy_document)
  policy_bytes      = length(local.policy_base64) / 4 * 3 - length(regexall("=", local.policy_base64))
  most_policy_bytes = 262144 # what the functions read

  policy_faults = concat(
    local.policy_bytes <= local.most_policy_bytes ? [] : [
      "policy: it has ${local.policy_bytes} bytes, and the functions read ${local.most_policy_bytes}; write less."
    ],
    flatten([
      for section in local.policy_sections : [
        for key in setsubtract(try(keys(section[2]), []), keys(local.policy_kinds[section[1]].properties)) :
        "policy.${section[0]}${key}: there is no such field; docs/policy.md has all of them."
      ]
    ]),
  )
}
