# What can be written. The form of each object, its defaults and what it refuses stand in inputs/variables.tf: a type here
# would drop a field that it does not know, without a word.

variable "alerts" {
  description = "Alert policies, and who is notified. enabled: whether there are any. notification_channels: full names of the channels that are notified. missed_passes: how many passes in a row may be missing before an alert fires."
  type        = any
  nullable    = false
  default     = {}
}

variable "apis" {
  description = "Enable the APIs that Ebb needs. They stay enabled when Ebb goes."
  type        = bool
  nullable    = false
  default     = true
}

variable "bucket" {
  description = "The bucket of the policy and of the functions' source. Several clusters may share one. create: false takes one that is there. name: its name; without one it is made of the project and the installation's name. location: where it is made; default the region. force_destroy: whether it is deleted with all that is in it when the installation goes; false for one that others share."
  type        = any
  nullable    = false
  default     = {}
}

variable "build" {
  description = "The service account that builds the functions. Several clusters may share one. create: false takes one that is there. service_account: its e-mail address, with create = false only. worker_pool: a private Cloud Build pool of the functions' region, by its full name."
  type        = any
  nullable    = false
  default     = {}
}

variable "cluster" {
  description = "The GKE Standard cluster to serve. name: its name. location: its region or zone. project: where it lives, if that is another project. nodes: how many it has at most, by which the functions' memory is chosen. only: whether the right to find and reach a control plane is bound to this cluster by a condition; false where IAM does not take one."
  type        = any
  nullable    = false
}

variable "commitments" {
  description = "Whether the planner may list committed use in the cluster's project (compute.commitments.list), for cluster.commitments.read of the policy."
  type        = bool
  nullable    = false
  default     = false
}

variable "database" {
  description = "The Firestore database of the state. It belongs to this cluster alone, so that one function's identity reaches one cluster's state. create: false takes one that is there. name: its id; never the default one. location: where it is made; default the region. delete_protection: whether Google refuses to delete it."
  type        = any
  nullable    = false
  default     = {}
}

variable "encryption" {
  description = "Encryption of bucket, topics and functions by a key of Cloud KMS. key: its full name, in the functions' region. database: whether the database is encrypted with it, too; Firestore takes keys of projects on its allowlist only, and of any other project the apply fails. repository: an Artifact Registry repository that has the same key, for the functions' images. grant: false if Google's service agents may use the key already."
  type        = any
  nullable    = false
  default     = {}
}

variable "functions" {
  description = "The two functions. runtime: their Python. log_level: the least severity that is logged, INFO or DEBUG. decision_log: changes, or all for every node's verdict at every pass. binary_authorization: a policy of Binary Authorization by its full name, or default, the project's own. archive: path of the zip that make zip writes, in place of one that is packed at plan. planner.cpu: its vCPUs. planner.memory: its memory; default by cluster.nodes. planner.timeout_seconds: how long a pass may take. drainer.memory: its memory; default by cluster.nodes. drainer.instances: how many work at most, each on 20 orders at once with 1 vCPU: 25 are enough for 500 drains in flight. drainer.timeout_seconds: how long one call may take. drainer.step_seconds: how long a step works before the drain goes on in a new message."
  type        = any
  nullable    = false
  default     = {}
}

variable "identities" {
  description = "E-mail addresses of service accounts that are there already, where an organisation makes them itself; one that is null is made. No two may be the same. planner: the planner's. drainer: the drainer's. push: that by which Pub/Sub calls the drainer; it must lie in the functions' project. scheduler: that by which Cloud Scheduler calls the planner; it must lie there, too."
  type        = any
  nullable    = false
  default     = {}
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
  validation {
    condition     = !contains(keys(var.labels), "ebb")
    error_message = "labels.ebb: Ebb writes this label itself, with the installation's name; write another key."
  }
  validation {
    condition     = alltrue([for key in keys(var.labels) : !startswith(key, "goog")])
    error_message = "labels: keys that begin with goog are Google's own; write others."
  }
  validation {
    condition     = length(var.labels) <= 63
    error_message = "labels: write at most 63; a resource takes 64, and one is Ebb's own."
  }
}

variable "network" {
  description = "The way to the control plane. endpoint: auto, dns, private or public; default private with a connector, else auto. connector: a Serverless VPC Access connector in the functions' region, attached to the cluster's own network. egress: what goes through it."
  type        = any
  nullable    = false
  default     = {}
}

variable "paused" {
  description = "Write `paused: true` into the policy, over its own value: no drain starts, and the nodes of drains in flight are uncordoned. The planner is still called, because it also repairs."
  type        = bool
  nullable    = false
  default     = false
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

variable "region" {
  description = "The region of the functions and of all they keep; default the cluster's."
  type        = string
  default     = null

  validation {
    condition     = var.region == null || can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "region: write a region such as europe-west1, not a zone."
  }
}

variable "schedule" {
  description = "How often the planner looks. every_minutes: how far apart passes are, by which marks are kept (default 5; the minute is hashed from the cluster's name). cron: five fields in its place; every_minutes is then how far apart its hits usually are. longest_gap_minutes: with cron, how far apart they are at most, by which the alert on missing passes waits. time_zone: of the cron schedule. region: where the jobs of Cloud Scheduler lie, if it is not offered in the functions' region; default that. weekly_summary.enabled: whether the planner sums up each week, in the log and on the results topic. weekly_summary.day: when a week ends: mon to sun. weekly_summary.hour: its hour, 0 to 23. weekly_summary.time_zone: of that hour."
  type        = any
  nullable    = false
  default     = {}
}
