-- Nodes and money by week and cluster. A summary that was published twice counts once.
SELECT
  labels.cluster AS cluster,
  SUBSTR(jsonPayload.ended, 1, 10) AS week_to,
  MAX(jsonPayload.removed_by_ebb) AS nodes_by_ebb,
  MAX(jsonPayload.removed_by_others) AS nodes_by_others,
  MAX(jsonPayload.saved) AS saved,
  MAX(jsonPayload.older_removals) AS older_removals,
  MAX(jsonPayload.promised) AS promised,
  MAX(jsonPayload.currency) AS currency
FROM `${table}`
WHERE labels.event = 'weekly_summary' AND jsonPayload.ended IS NOT NULL
GROUP BY cluster, week_to
ORDER BY week_to DESC, cluster
