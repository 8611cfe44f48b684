-- What kept nodes, by week, cluster and reason: nodes and dollars an hour, on average over all passes of the week.
WITH passes AS (
  SELECT labels.cluster AS cluster, DATE_TRUNC(DATE(timestamp), WEEK(MONDAY)) AS week, COUNT(*) AS passes
  FROM `${table}`
  WHERE labels.event = 'cluster_state'
  GROUP BY cluster, week
),
missed AS (
  SELECT
    labels.cluster AS cluster, DATE_TRUNC(DATE(timestamp), WEEK(MONDAY)) AS week, labels.reason AS reason,
    SUM(jsonPayload.nodes) AS nodes, SUM(jsonPayload.per_hour) AS per_hour
  FROM `${table}`
  WHERE labels.event = 'missed_saving'
  GROUP BY cluster, week, reason
)
SELECT
  missed.week AS week, missed.cluster AS cluster, missed.reason AS reason,
  ROUND(missed.nodes / passes.passes, 1) AS nodes, ROUND(missed.per_hour / passes.passes, 2) AS per_hour
FROM missed
JOIN passes ON passes.cluster = missed.cluster AND passes.week = missed.week
ORDER BY week DESC, per_hour DESC
