# What is wrong with the policy, one sentence a fault, so that `plan` says it and not tomorrow's log. The rules are
# those of infra/policy.schema.json; what a schema cannot say (cron, time zones, dates) is said by
# `ebb policy check` and at every pass.

locals {
  policy_schema = jsondecode(file("${local.root}/infra/policy.schema.json"))
  policy_kinds  = merge(local.policy_schema["$defs"], { Policy = local.policy_schema })

  # Every mapping of the document: where it stands, what it is called in the schema, what it holds. A try() passes over
  # what is of another kind than it should be: that is found below, where the field itself is judged.
  pools = merge(
    { for name in ["defaults"] : name => local.policy.defaults if try(local.policy.defaults != null, false) },
    { for name, pool in try(merge(local.policy.nodePools, {}), {}) : "nodePools.${name}" => pool if pool != null },
  )
  disruptions = merge(
    {
      for path in ["cluster"] : "${path}.disruption" => ["CeilingSection", local.policy.cluster.disruption]
      if can(keys(local.policy.cluster.disruption))
    },
    {
      for path, pool in local.pools : "${path}.disruption" => ["DisruptionSection", pool.disruption]
      if can(keys(pool.disruption))
    },
  )
  policy_sections = concat(
    [{ path = "", kind = "Policy", fields = local.policy }],
    [
      for path, section in {
        "cluster"                       = ["ClusterSection", try(local.policy.cluster, null)]
        "cluster.rate"                  = ["RateSection", try(local.policy.cluster.rate, null)]
        "cluster.evictionsPerNamespace" = ["NamespaceRateSection", try(local.policy.cluster.evictionsPerNamespace, null)]
        "drain"                         = ["DrainSection", try(local.policy.drain, null)]
        "drain.backoff"                 = ["BackoffSection", try(local.policy.drain.backoff, null)]
        "manual"                        = ["ManualSection", try(local.policy.manual, null)]
      } : { path = path, kind = section[0], fields = section[1] }
    ],
    [
      for index, freeze in try(concat(local.policy.cluster.freezes, []), []) :
      { path = "cluster.freezes[${index}]", kind = "FreezeSection", fields = freeze }
    ],
    [for path, pool in local.pools : { path = path, kind = "PoolSection", fields = pool }],
    [for path, pool in local.pools : { path = "${path}.rate", kind = "RateSection", fields = try(pool.rate, null) }],
    [for path, section in local.disruptions : { path = path, kind = section[0], fields = section[1] }],
    flatten([
      for path, section in local.disruptions : [
        for index, budget in try(concat(section[1].budgets, []), []) :
        { path = "${path}.budgets[${index}]", kind = "BudgetSection", fields = budget }
      ]
    ]),
    flatten([
      for path, section in local.disruptions : [
        for index, window in try(concat(section[1].windows, []), []) :
        { path = "${path}.windows[${index}]", kind = "ScheduleSection", fields = window }
      ]
    ]),
  )

  # Every field that is written, with the schema's rules for it: any of them must hold. A list is judged element by
  # element; the fields of a section are judged above.
  policy_fields = flatten([
    for section in local.policy_sections : [
      for key, value in section.fields : {
        path  = trimprefix("${section.path}.${key}", ".")
        rule  = try(local.policy_kinds[section.kind].properties[key], null)
        value = value
      } if value != null
    ] if can(keys(section.fields))
  ])
  policy_rules = [
    for field in local.policy_fields : merge(field, {
      rules = [for rule in try(field.rule.anyOf, [field.rule]) : rule if try(rule.type, "") != "null"]
    }) if field.rule != null
  ]
  policy_values = concat(
    [
      for path, pool in local.pools : { path = path, rules = [{ "$ref" = "PoolSection" }], value = pool, examples = [] }
      if startswith(path, "nodePools.")
    ],
    [
      for field in local.policy_rules : {
        path     = field.path
        rules    = field.rules
        value    = field.value
        examples = try(field.rule.examples, field.rules[0].examples, [])
      }
    ],
    flatten([
      for field in local.policy_rules : [
        for index, value in try(concat(field.value, []), []) : {
          path     = "${field.path}[${index}]"
          rules    = [field.rules[0].items]
          value    = value
          examples = try(field.rules[0].items.examples, [])
        }
      ] if length(setintersection(keys(try(field.rules[0].items, {})), ["$ref", "enum", "pattern"])) > 0
    ]),
  )

  policy_wrong = [
    for field in local.policy_values : field if !anytrue([
      for rule in field.rules : (
        can(rule["$ref"]) || try(rule.type, "") == "object" ? can(keys(field.value)) :
        try(rule.type, "") == "array" ? can(concat(field.value, [])) :
        try(rule.type, "") == "boolean" ? contains(["true", "false"], jsonencode(field.value)) :
        can(rule.enum) ? try(contains(rule.enum, field.value), false) :
        # A duration for which the schema does not name 0 is longer than zero.
        can(rule.pattern) ? can(regex(rule.pattern, tostring(field.value))) && (
          !strcontains(rule.pattern, "[dhm") ||
          strcontains(rule.pattern, "|0") ||
          can(regex("[1-9]", tostring(field.value)))
        ) :
        try(rule.type, "") == "string" ? startswith(jsonencode(field.value), "\"") :
        # Ebb reads strictly: text is no figure. Terraform makes text of figures where a map holds values of one type.
        !startswith(jsonencode(field.value), "\"") && try(
          tonumber(field.value) >= try(rule.minimum, -1000000) &&
          tonumber(field.value) <= try(rule.maximum, 1000000) &&
          tonumber(field.value) > try(rule.exclusiveMinimum, -1000001) &&
          (rule.type == "number" || floor(tonumber(field.value)) == tonumber(field.value)),
          false,
        )
      )
    ])
  ]
  policy_remedies = [
    for field in local.policy_wrong : [
      for rule in [field.rules[0]] : join("", [(
        can(rule.enum) ? "one of ${join(", ", rule.enum)}" :
        length(field.examples) > 0 ? "a value such as ${join(" or ", field.examples)}" :
        can(rule.maximum) ? "a number above ${rule.exclusiveMinimum} and up to ${rule.maximum}" :
        can(rule.minimum) && try(rule.type, "") == "integer" ? "a whole number of at least ${rule.minimum}" :
        can(rule.minimum) ? "a number of at least ${rule.minimum}" :
        try(rule.type, "") == "boolean" ? "true or false" :
        try(rule.type, "") == "array" ? "a list" :
        try(rule.type, "") == "string" ? "text" : "a mapping"
        ),
        alltrue([for each in field.rules : contains(["boolean", "integer", "number"], try(each.type, ""))]) && startswith(jsonencode(field.value), "\"") ? ", without quotes" : "",
      ])
    ][0]
  ]
  policy_halves = [
    for section in local.policy_sections : section.path
    if section.kind == "BudgetSection" && (
      (try(section.fields.schedule, null) == null) != (try(section.fields.duration, null) == null)
    )
  ]
  policy_missing = flatten([
    for section in local.policy_sections : [
      for key in try(local.policy_kinds[section.kind].required, []) : {
        path    = "${section.path}.${key}"
        example = try(local.policy_kinds[section.kind].properties[key].examples[0], "that of docs/policy.md")
      } if try(section.fields[key], null) == null
    ] if can(keys(section.fields))
  ])

  # length() counts letters; of base64 four are three bytes, less those that fill the last four up.
  policy_base64     = base64encode(local.policy_document)
  policy_bytes      = length(local.policy_base64) / 4 * 3 - length(regexall("=", local.policy_base64))
  most_policy_bytes = 262144 # what the functions read

  policy_faults = concat(
    [
      for bytes in [local.policy_bytes] : "policy: it has ${bytes} bytes, and the functions read ${local.most_policy_bytes}; write less."
      if bytes > local.most_policy_bytes
    ],
    [
      for field in local.policy_fields : "policy.${field.path}: there is no such field; docs/policy.md has all of them."
      if field.rule == null
    ],
    [
      for index, field in local.policy_wrong :
      "policy.${field.path}: value ${jsonencode(field.value)} is wrong; write ${local.policy_remedies[index]}."
    ],
    [for path in local.policy_halves : "policy.${path}: schedule and duration belong together; write both or neither."],
    [for field in local.policy_missing : "policy.${field.path}: it is missing; write a value such as ${field.example}."],
  )
}
