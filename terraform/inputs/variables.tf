# The form of every input that is an object: its fields, their defaults, and what is refused. What they mean stands in
# ../variables.tf.

variable "input" {
  type = object({
    alerts = optional(object({
      enabled               = optional(bool, true)
      notification_channels = optional(list(string), [])
      missed_passes         = optional(number, 3)
    }), {})
    bucket = optional(object({
      create        = optional(bool, true)
      name          = optional(string)
      location      = optional(string)
      force_destroy = optional(bool, true)
    }), {})
    build = optional(object({
      create          = optional(bool, true)
      service_account = optional(string)
      worker_pool     = optional(string)
    }), {})
    cluster = object({
      name     = string
      location = string
      project  = optional(string)
      nodes    = optional(number, 1000)
      only     = optional(bool, true)
    })
    database = optional(object({
      create            = optional(bool, true)
      name              = optional(string)
      location          = optional(string)
      delete_protection = optional(bool, false)
    }), {})
    encryption = optional(object({
      key        = optional(string)
      repository = optional(string)
      grant      = optional(bool, true)
      database   = optional(bool, false)
    }), {})
    functions = optional(object({
      runtime              = optional(string, "python313")
      log_level            = optional(string, "INFO")
      decision_log         = optional(string, "changes")
      binary_authorization = optional(string)
      archive              = optional(string)
      planner = optional(object({
        cpu             = optional(string, "1")
        memory          = optional(string)
        timeout_seconds = optional(number, 300)
      }), {})
      drainer = optional(object({
        memory          = optional(string)
        instances       = optional(number, 25)
        timeout_seconds = optional(number, 55)
        step_seconds    = optional(number, 25)
      }), {})
    }), {})
    identities = optional(object({
      planner   = optional(string)
      drainer   = optional(string)
      push      = optional(string)
      scheduler = optional(string)
    }), {})
    network = optional(object({
      endpoint  = optional(string)
      connector = optional(string)
      egress    = optional(string, "PRIVATE_RANGES_ONLY")
    }), {})
    schedule = optional(object({
      every_minutes       = optional(number)
      cron                = optional(string)
      longest_gap_minutes = optional(number)
      time_zone           = optional(string, "Etc/UTC")
      region              = optional(string)
      weekly_summary = optional(object({
        enabled   = optional(bool, true)
        day       = optional(string, "mon")
        hour      = optional(number, 9)
        time_zone = optional(string, "Etc/UTC")
      }), {})
    }), {})
  })
  nullable = false

  validation {
    condition     = var.input.alerts.missed_passes >= 2 && var.input.alerts.missed_passes <= 12 && floor(var.input.alerts.missed_passes) == var.input.alerts.missed_passes
    error_message = "alerts.missed_passes: write a whole number from 2 to 12; a single missed pass is normal."
  }
  validation {
    condition     = alltrue([for channel in var.input.alerts.notification_channels : can(regex("^projects/[^/]+/notificationChannels/[0-9]+$", channel))])
    error_message = "alerts.notification_channels: write full names such as projects/P/notificationChannels/123, the attribute `name` of google_monitoring_notification_channel."
  }

  validation {
    condition     = var.input.bucket.create || var.input.bucket.name != null
    error_message = "bucket: with create = false write the name of the bucket that is there."
  }
  validation {
    condition     = var.input.bucket.name == null || can(regex("^[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]$", var.input.bucket.name))
    error_message = "bucket.name: write 3 to 63 lower-case letters, digits, hyphens and underscores, such as my-project-ebb."
  }
  validation {
    condition     = var.input.bucket.location == null || can(regex("^([a-z]+[0-9]*|[a-z]+-[a-z]+[0-9]+)$", lower(var.input.bucket.location)))
    error_message = "bucket.location: write a region such as europe-west1, or several such as EU, and no zone."
  }
  validation {
    condition     = var.input.bucket.create || (var.input.bucket.location == null && var.input.bucket.force_destroy)
    error_message = "bucket: location and force_destroy are those of a bucket that is made here; with create = false leave them out."
  }

  validation {
    condition     = var.input.build.create == (var.input.build.service_account == null)
    error_message = "build: write service_account with create = false, and only then."
  }
  validation {
    condition     = var.input.build.service_account == null || can(regex("^[a-z][a-z0-9-]*@([a-z0-9.-]+\\.)?gserviceaccount\\.com$", var.input.build.service_account))
    error_message = "build.service_account: write a service account's address such as builder@my-project.iam.gserviceaccount.com."
  }
  validation {
    condition     = var.input.build.worker_pool == null || can(regex("^projects/[^/]+/locations/[^/]+/workerPools/[^/]+$", var.input.build.worker_pool))
    error_message = "build.worker_pool: write a full name such as projects/P/locations/R/workerPools/W."
  }

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$", var.input.cluster.name))
    error_message = "cluster.name: write the name of a GKE cluster: at most 40 lower-case letters, digits and hyphens, such as prod."
  }
  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+(-[a-z0-9]+)?$", var.input.cluster.location))
    error_message = "cluster.location: write a region such as europe-west1, or a zone such as europe-west1-b."
  }
  validation {
    condition     = var.input.cluster.project == null || can(regex("^([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.input.cluster.project))
    error_message = "cluster.project: write the id of a project such as my-project, not its number or display name."
  }
  validation {
    condition     = var.input.cluster.nodes >= 1 && var.input.cluster.nodes <= 65000 && floor(var.input.cluster.nodes) == var.input.cluster.nodes
    error_message = "cluster.nodes: write a whole number from 1 to 65000."
  }

  validation {
    condition     = var.input.database.create || var.input.database.name != null
    error_message = "database: with create = false write the name of the database that is there."
  }
  validation {
    condition     = var.input.database.name == null || can(regex("^[a-z][a-z0-9-]{2,61}[a-z0-9]$", var.input.database.name))
    error_message = "database.name: write 4 to 63 lower-case letters, digits and hyphens, a letter first, such as ebb-prod; (default) is not for Ebb."
  }
  # https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases/create
  validation {
    condition     = var.input.database.name == null || !can(regex("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", var.input.database.name))
    error_message = "database.name: Firestore takes no UUID; write a name such as ebb-prod."
  }
  validation {
    condition     = var.input.database.location == null || can(regex("^([a-z]+[0-9]+|[a-z]+-[a-z]+[0-9]+)$", var.input.database.location))
    error_message = "database.location: write a region such as europe-west1, or several such as eur3, and no zone."
  }
  validation {
    condition     = var.input.database.create || (var.input.database.location == null && !var.input.database.delete_protection)
    error_message = "database: location and delete_protection are those of a database that is made here; with create = false leave them out."
  }

  validation {
    condition     = (var.input.encryption.key == null) == (var.input.encryption.repository == null)
    error_message = "encryption: key and repository belong together; write both or neither, for functions with a key are built into a repository that has it."
  }
  validation {
    condition     = var.input.encryption.key != null || (!var.input.encryption.database && var.input.encryption.grant)
    error_message = "encryption: without a key nothing is encrypted; write key and repository too, or leave database and grant out."
  }
  validation {
    condition     = var.input.encryption.key == null || can(regex("^projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+$", var.input.encryption.key))
    error_message = "encryption.key: write a full name such as projects/P/locations/L/keyRings/R/cryptoKeys/K."
  }
  validation {
    condition     = var.input.encryption.repository == null || can(regex("^projects/[^/]+/locations/[^/]+/repositories/[^/]+$", var.input.encryption.repository))
    error_message = "encryption.repository: write a full name such as projects/P/locations/L/repositories/R."
  }

  validation {
    condition     = contains(["python311", "python312", "python313", "python314"], var.input.functions.runtime)
    error_message = "functions.runtime: write python311, python312, python313 or python314; Ebb's requirements are pinned for these."
  }
  validation {
    condition     = contains(["DEBUG", "INFO"], var.input.functions.log_level)
    error_message = "functions.log_level: write DEBUG or INFO; metrics, dashboard and alerts live on lines of INFO. For less, exclude lines at the sink (docs/run.md)."
  }
  validation {
    condition     = var.input.functions.archive == null || can(filesha256(coalesce(var.input.functions.archive, "-")))
    error_message = "functions.archive: there is no such file; `make zip` writes it."
  }
  # The first bytes of a zip. A build of anything else fails after some minutes.
  validation {
    condition     = var.input.functions.archive == null || !can(filesha256(coalesce(var.input.functions.archive, "-"))) || startswith(try(filebase64(var.input.functions.archive), ""), "UEsDB")
    error_message = "functions.archive: the file is no zip; write the path of that which `make zip` writes."
  }
  # https://cloud.google.com/run/docs/reference/rest/v2/BinaryAuthorization
  validation {
    condition     = var.input.functions.binary_authorization == null || can(regex("^(default|projects/[^/]+/platforms/cloudRun/(policies/)?[^/]+)$", var.input.functions.binary_authorization))
    error_message = "functions.binary_authorization: write default, or a policy's full name such as projects/P/platforms/cloudRun/POLICY."
  }
  validation {
    condition     = contains(["changes", "all"], var.input.functions.decision_log)
    error_message = "functions.decision_log: write changes, or all for every node's verdict at every pass."
  }
  validation {
    condition     = contains(["1", "2", "4"], var.input.functions.planner.cpu)
    error_message = "functions.planner.cpu: write 1, 2 or 4."
  }
  validation {
    condition     = alltrue([for each in values({ planner = var.input.functions.planner.memory, drainer = var.input.functions.drainer.memory }) : each == null || can(regex("^(256Mi|512Mi|[1-8]Gi)$", each))])
    error_message = "functions.planner.memory, functions.drainer.memory: write 256Mi, 512Mi or 1Gi to 8Gi."
  }
  # https://cloud.google.com/run/docs/configuring/services/memory-limits
  validation {
    condition     = var.input.functions.planner.cpu != "1" || !can(regex("^[5-8]Gi$", coalesce(var.input.functions.planner.memory, "1Gi")))
    error_message = "functions.planner.memory: Cloud Run gives more than 4Gi to 2 vCPUs or more only; write planner.cpu = \"2\"."
  }
  validation {
    condition     = var.input.functions.planner.cpu != "4" || can(regex("^[2-8]Gi$", coalesce(var.input.functions.planner.memory, "2Gi")))
    error_message = "functions.planner.memory: Cloud Run wants at least 2Gi for 4 vCPUs; write planner.memory = \"2Gi\", or fewer vCPUs."
  }
  validation {
    condition     = !can(regex("^[5-8]Gi$", coalesce(var.input.functions.drainer.memory, "512Mi")))
    error_message = "functions.drainer.memory: the drainer has 1 vCPU, to which Cloud Run gives 4Gi at most; write 4Gi or less, and more instances."
  }
  validation {
    condition     = var.input.functions.planner.timeout_seconds >= 60 && var.input.functions.planner.timeout_seconds <= 1680 && floor(var.input.functions.planner.timeout_seconds) == var.input.functions.planner.timeout_seconds
    error_message = "functions.planner.timeout_seconds: write a whole number from 60 to 1680; Cloud Scheduler waits 1800 s at most, and the planner's lease must outlive the call."
  }
  validation {
    condition     = var.input.functions.drainer.instances >= 1 && var.input.functions.drainer.instances <= 100 && floor(var.input.functions.drainer.instances) == var.input.functions.drainer.instances
    error_message = "functions.drainer.instances: write a whole number from 1 to 100."
  }
  validation {
    condition     = var.input.functions.drainer.timeout_seconds >= 45 && var.input.functions.drainer.timeout_seconds <= 590 && floor(var.input.functions.drainer.timeout_seconds) == var.input.functions.drainer.timeout_seconds
    error_message = "functions.drainer.timeout_seconds: write a whole number from 45 to 590; 5 s later Pub/Sub delivers again, and it waits 600 s at most."
  }
  validation {
    condition     = var.input.functions.drainer.step_seconds >= 15 && var.input.functions.drainer.step_seconds <= 540 && floor(var.input.functions.drainer.step_seconds) == var.input.functions.drainer.step_seconds && var.input.functions.drainer.step_seconds + 30 <= var.input.functions.drainer.timeout_seconds
    error_message = "functions.drainer.step_seconds: write a whole number from 15 to 540, at least 30 s under drainer.timeout_seconds: a step saves and publishes its continuation after it."
  }

  validation {
    condition     = alltrue([for email in values(var.input.identities) : email == null || can(regex("^[a-z][a-z0-9-]*@([a-z0-9.-]+\\.)?gserviceaccount\\.com$", coalesce(email, "-")))])
    error_message = "identities: write e-mail addresses of service accounts such as ebb-planner@my-project.iam.gserviceaccount.com."
  }
  validation {
    condition     = length(distinct([for email in values(var.input.identities) : email if email != null])) == length([for email in values(var.input.identities) : email if email != null])
    error_message = "identities: write four different accounts; each has rights that the others do without."
  }

  validation {
    condition     = contains(["auto", "dns", "private", "public"], coalesce(var.input.network.endpoint, "auto"))
    error_message = "network.endpoint: write auto, dns, private or public."
  }
  validation {
    condition     = !(var.input.network.endpoint == "private" && var.input.network.connector == null)
    error_message = "network: the private endpoint can be reached only through a connector; write network.connector, or endpoint = \"dns\"."
  }
  validation {
    condition     = var.input.network.connector == null || can(regex("^projects/[^/]+/locations/[^/]+/connectors/[^/]+$", var.input.network.connector))
    error_message = "network.connector: write a full name such as projects/P/locations/R/connectors/C, the attribute `id` of google_vpc_access_connector."
  }
  validation {
    condition     = contains(["PRIVATE_RANGES_ONLY", "ALL_TRAFFIC"], var.input.network.egress)
    error_message = "network.egress: write PRIVATE_RANGES_ONLY or ALL_TRAFFIC."
  }
  validation {
    condition     = var.input.network.connector != null || var.input.network.egress == "PRIVATE_RANGES_ONLY"
    error_message = "network.egress: nothing goes through a network without a connector; write network.connector, or leave egress out."
  }

  validation {
    condition     = var.input.schedule.cron != null || contains([1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30], coalesce(var.input.schedule.every_minutes, 5))
    error_message = "schedule.every_minutes: write 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30, which divide the hour; for another rhythm write cron too."
  }
  validation {
    condition     = var.input.schedule.cron == null || try(var.input.schedule.every_minutes >= 1 && var.input.schedule.every_minutes <= 1440 && floor(var.input.schedule.every_minutes) == var.input.schedule.every_minutes, false)
    error_message = "schedule: a cron schedule needs every_minutes, how far apart its hits are as a rule: a whole number from 1 to 1440. Marks outlive three missing passes; without it none might."
  }
  validation {
    condition     = (var.input.schedule.cron == null) == (var.input.schedule.longest_gap_minutes == null)
    error_message = "schedule: cron and longest_gap_minutes belong together; write both or neither."
  }
  validation {
    condition     = var.input.schedule.cron == null || can(regex("^[^ ]+( [^ ]+){4}$", var.input.schedule.cron))
    error_message = "schedule.cron: write five fields with one space between them, such as */5 18-23 * * *."
  }
  # https://cloud.google.com/scheduler/docs/configuring/cron-job-schedules: else the job, the last of all, is refused at apply.
  validation {
    condition = var.input.schedule.cron == null || alltrue([
      for place, field in split(" ", coalesce(var.input.schedule.cron, "*")) : alltrue([
        for each in split(",", field) : alltrue([
          for value in [element([
            "([0-5]?[0-9])",
            "([01]?[0-9]|2[0-3])",
            "(0?[1-9]|[12][0-9]|3[01])",
            "(0?[1-9]|1[0-2]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
            "([0-7]|sun|mon|tue|wed|thu|fri|sat)",
          ], place)] : can(regex("^(${value}|(\\*|${value}-${value})(/([1-9]|[1-5][0-9]))?)$", lower(each)))
        ])
      ])
    ])
    error_message = "schedule.cron: write minute (0-59), hour (0-23), day (1-31), month (1-12) and day of the week (0-7), each as 5, 1,2, 1-5, * or */5."
  }
  validation {
    condition = var.input.schedule.cron == null || alltrue([
      for range in regexall("([0-9]+)-([0-9]+)", coalesce(var.input.schedule.cron, "*")) : tonumber(range[0]) <= tonumber(range[1])
    ])
    error_message = "schedule.cron: write a range from the smaller to the larger, such as 5-30; one over midnight is two, such as 22-23,0-5."
  }
  validation {
    condition     = var.input.schedule.cron == null || !can(regex("^[^ ]+ [^ ]+ (30|31)(,(30|31))* 0?2 \\*$|^[^ ]+ [^ ]+ 31 (0?[469]|11)(,(0?[469]|11))* \\*$", var.input.schedule.cron))
    error_message = "schedule.cron: it never hits, for no such month has that day."
  }
  validation {
    condition     = var.input.schedule.longest_gap_minutes == null || try(var.input.schedule.longest_gap_minutes >= 1 && var.input.schedule.longest_gap_minutes <= 10080 && floor(var.input.schedule.longest_gap_minutes) == var.input.schedule.longest_gap_minutes, false)
    error_message = "schedule.longest_gap_minutes: write a whole number from 1 to 10080 (a week)."
  }
  validation {
    condition     = var.input.schedule.longest_gap_minutes == null || try(var.input.schedule.longest_gap_minutes >= var.input.schedule.every_minutes, true)
    error_message = "schedule.longest_gap_minutes: write at least every_minutes; otherwise the alert on missing passes would always fire."
  }
  validation {
    condition     = can(regex("^(UTC|[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+)+)$", var.input.schedule.time_zone))
    error_message = "schedule.time_zone: write a name of the IANA database such as Europe/Amsterdam or Etc/UTC."
  }
  validation {
    condition     = contains(["mon", "tue", "wed", "thu", "fri", "sat", "sun"], var.input.schedule.weekly_summary.day)
    error_message = "schedule.weekly_summary.day: write mon, tue, wed, thu, fri, sat or sun."
  }
  validation {
    condition     = contains(range(24), var.input.schedule.weekly_summary.hour)
    error_message = "schedule.weekly_summary.hour: write a whole number from 0 to 23."
  }
  validation {
    condition     = can(regex("^(UTC|[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+)+)$", var.input.schedule.weekly_summary.time_zone))
    error_message = "schedule.weekly_summary.time_zone: write a name of the IANA database such as Europe/Amsterdam or Etc/UTC."
  }
  validation {
    condition     = var.input.schedule.region == null || can(regex("^[a-z]+-[a-z]+[0-9]+$", var.input.schedule.region))
    error_message = "schedule.region: write a region such as europe-west1, not a zone."
  }
}

variable "installation" {
  description = "What is made of several inputs: the functions' project and region, and the name of a bucket that is made."
  type        = object({ project = string, region = string, bucket_name = string })
  nullable    = false
}

variable "written" {
  description = "The same inputs as they were written: with the fields that the type above would drop."
  type        = any
  nullable    = false
}
