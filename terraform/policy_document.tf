# The policy as it is written: a typed one becomes JSON, a file stays as it stands, comments and all. Only values here: the
# object is in policy.tf.

locals {
  policy_object = "policy/${local.name}.yaml"

  # A null is written as null, which the functions read as absent.
  policy_typed = jsonencode(merge(var.policy, var.paused ? { paused = true } : {}))

  # Text is changed as text: decoded and encoded again, a date would become an instant, and `yes` true.
  policy_text   = var.policy_file == null ? "" : file(var.policy_file)
  policy_key    = "/(?m)^(paused|\"paused\"|'paused')[ \\t]*:.*$/"
  policy_paused = length(regexall(trim(local.policy_key, "/"), local.policy_text)) > 0
  policy_filed = (
    !var.paused
    ? local.policy_text
    : can(jsondecode(local.policy_text))
    ? jsonencode(merge(try(jsondecode(local.policy_text), {}), { paused = true }))
    : local.policy_paused
    ? replace(local.policy_text, local.policy_key, "paused: true")
    : "${trimsuffix(local.policy_text, "\n")}\npaused: true\n"
  )

  policy_document = var.policy_file == null ? local.policy_typed : local.policy_filed
  policy          = try(yamldecode(local.policy_document), {})

  # How many drains may be in flight at once, as far as that can be known here: the least of the counts that always
  # bind. Of a percentage nobody knows here how many nodes it is.
  ceilings = [
    for budget in try(concat(local.policy.cluster.disruption.budgets, []), []) : tonumber(budget.nodes)
    if can(tonumber(budget.nodes)) && try(budget.schedule, null) == null && length(try(concat(budget.reasons), [])) == 0
  ]
  most_drains = length(local.ceilings) == 0 ? 0 : min(local.ceilings...)
}
