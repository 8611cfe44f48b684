variable "alerts" {
  description = "Alert policies, and who hears of them. missed_passes: how many passes in a row may be missing before somebody is told."
  type = object({
    enabled               = optional(bool, true)
    notification_channels = optional(list(string), [])
    missed_passes         = optional(number, 3)
  })
  nullable = false
  default  = {}

  validation {
    condition     = contains(range(2, 13), var.alerts.missed_passes)
    error_message = "alerts.missed_passes: write a whole number from 2 to 12; a single missed pass is no news."
  }
  validation {
    condition     = alltrue([for channel in var.alerts.notification_channels : can(regex("^projects/[^/]+/notificationChannels/[0-9]+$", channel))])
    error_message = "alerts.notification_channels: write full names such as projects/P/notificationChannels/123, the attribute `name` of google_monitoring_notification_channel."
  }
}

variable "apis" {
  description = "Enable the APIs that Ebb needs. They stay enabled when Ebb goes."
  type        = bool
  nullable    = false
  default     = true
}

variable "bucket" {
  description = "The bucket of the policy and of the functions' source. Several clusters may share one: create = false and its name."
  type = object({
    create   = optional(bool, true)
    name     = optional(string)
    location = optional(string)
  })
  nullable = false
  default  = {}

  validation {
    condition     = var.bucket.create || var.bucket.name != null
    error_message = "bucket: with create = false write the name of the bucket that is there."
  }
  validation {
    condition     = var.bucket.name == null || can(regex("^[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]$", var.bucket.name))
    error_message = "bucket.name: write 3 to 63 lower-case letters, digits, hyphens and underscores, such as my-project-ebb."
  }
}

variable "build" {
  description = "The service account that builds the functions. Several clusters may share one: create = false and its e-mail address."
  type = object({
    create          = optional(bool, true)
    service_account = optional(string)
  })
  nullable = false
  default  = {}

  validation {
    condition     = var.build.create == (var.build.service_account == null)
    error_message = "build: write service_account with create = false, and only then."
  }
  validation {
    condition     = var.build.service_account == null || can(regex("^[a-z][a-z0-9-]*@[a-z0-9.-]+$", var.build.service_account))
    error_message = "build.service_account: write an e-mail address such as builder@my-project.iam.gserviceaccount.com."
  }
}

variable "cluster" {
  description = "The GKE Standard cluster to serve. project: where it lives, if that is another project."
  type = object({
    name     = string
    location = string
    project  = optional(string)
  })
  nullable = false

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$", var.cluster.name))
    error_message = "cluster.name: write the name of a GKE cluster: at most 40 lower-case letters, digits and hyphens, such as prod."
  }
  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+(-[a-z])?$", var.cluster.location))
    error_message = "cluster.location: write a region such as europe-west1, or a zone such as europe-west1-b."
  }
  validation {
    condition     = var.cluster.project == null || can(regex("^([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.cluster.project))
    error_message = "cluster.project: write the id of a project such as my-project, not its number or display name."
  }
}

variable "database" {
  description = "The Firestore database of this cluster's state. It belongs to one cluster alone, so that one function's identity reaches one cluster's state; create = false takes one that is there."
  type = object({
    create            = optional(bool, true)
    name              = optional(string)
    location          = optional(string)
    delete_protection = optional(bool, false)
  })
  nullable = false
  default  = {}

  validation {
    condition     = var.database.create || var.database.name != null
    error_message = "database: with create = false write the name of the database that is there."
  }
  validation {
    condition     = var.database.name == null || can(regex("^[a-z][a-z0-9-]{2,61}[a-z0-9]$", var.database.name))
    error_message = "database.name: write 4 to 63 lower-case letters, digits and hyphens, a letter first, such as ebb-prod; (default) is not for Ebb."
  }
}

variable "labels" {
  description = "Labels for everything that takes some."
  type        = map(string)
  nullable    = false
  default     = {}

  validation {
    condition = alltrue([
      for key, value in var.labels :
      can(regex("^[a-z][a-z0-9_-]{0,62}$", key)) && can(regex("^[a-z0-9_-]{0,63}$", value))
    ])
    error_message = "labels: write lower-case letters, digits, hyphens and underscores, at most 63, keys beginning with a letter."
  }
}

variable "prefix" {
  description = "The first word of every name."
  type        = string
  nullable    = false
  default     = "ebb"

  validation {
    condition     = can(regex("^[a-z][a-z0-9]{0,7}$", var.prefix))
    error_message = "prefix: write at most 8 lower-case letters and digits, a letter first, such as ebb."
  }
}

variable "project" {
  description = "The id of the project in which Ebb runs."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project))
    error_message = "project: write the id of a project such as my-project, not its number or display name."
  }
}

variable "schedule" {
  description = "How often the planner looks: every_minutes (default 5; the minute is hashed from the cluster's name), or a cron schedule of five fields with the longest gap between its hits by day, which the alert on missing passes needs."
  type = object({
    every_minutes       = optional(number)
    cron                = optional(string)
    longest_gap_minutes = optional(number)
    time_zone           = optional(string, "Etc/UTC")
  })
  nullable = false
  default  = {}

  validation {
    condition     = var.schedule.every_minutes == null || contains([1, 2, 3, 4, 5, 6, 10, 12], coalesce(var.schedule.every_minutes, 5))
    error_message = "schedule.every_minutes: write 1, 2, 3, 4, 5, 6, 10 or 12, which divide the hour; after 15 minutes without a pass all marks start anew."
  }
  validation {
    condition     = var.schedule.every_minutes == null || var.schedule.cron == null
    error_message = "schedule: every_minutes and cron exclude each other; write one of them."
  }
  validation {
    condition     = (var.schedule.cron == null) == (var.schedule.longest_gap_minutes == null)
    error_message = "schedule: cron and longest_gap_minutes belong together; write both or neither."
  }
  validation {
    condition     = var.schedule.cron == null || can(regex("^[^ ]+( [^ ]+){4}$", var.schedule.cron))
    error_message = "schedule.cron: write five fields with one space between them, such as */5 18-23 * * *."
  }
  validation {
    condition     = var.schedule.longest_gap_minutes == null || try(contains(range(1, 10081), var.schedule.longest_gap_minutes), false)
    error_message = "schedule.longest_gap_minutes: write a whole number from 1 to 10080 (a week)."
  }
  validation {
    condition     = can(regex("^(UTC|[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+)+)$", var.schedule.time_zone))
    error_message = "schedule.time_zone: write a name of the IANA database such as Europe/Amsterdam or Etc/UTC."
  }
}
