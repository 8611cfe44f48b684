# When a cron schedule hits, by its minute and hour alone. Days only widen what lies between two hits, so that what is
# too little for every day is too little for some.

locals {
  # Minutes and hours, each with what its field lists: 5, 1,2, 1-5, * or */5.
  listed = [
    for place, field in var.input.schedule.cron == null ? [] : slice(split(" ", var.input.schedule.cron), 0, 2) : flatten([
      for each in split(",", replace(field, "*", "0-${[59, 23][place]}")) : [
        for bounds in [split("-", split("/", each)[0])] :
        range(tonumber(bounds[0]), tonumber(reverse(bounds)[0]) + 1, try(tonumber(split("/", each)[1]), 1))
      ]
    ])
  ]
  hits = var.input.schedule.cron == null ? [] : flatten([
    for hour in range(24) : [for minute in range(60) : 60 * hour + minute if contains(local.listed[0], minute)]
    if contains(local.listed[1], hour)
  ])
  apart = [for place, hit in local.hits : place == 0 ? hit + 1440 - reverse(local.hits)[0] : hit - local.hits[place - 1]]
}

output "apart" {
  value = local.apart

  precondition {
    condition     = length(local.apart) == 0 || try(var.input.schedule.every_minutes >= min(local.apart...), true)
    error_message = "schedule.every_minutes: this cron schedule hits every ${try(min(local.apart...), 0)} minutes at most; write at least that, for marks outlive three intervals."
  }
  precondition {
    condition     = length(local.apart) == 0 || try(var.input.schedule.longest_gap_minutes >= max(local.apart...), true)
    error_message = "schedule.longest_gap_minutes: up to ${try(max(local.apart...), 0)} minutes lie between two hits of this cron schedule; write at least that, or the alert on missing passes fires for nothing."
  }
}
