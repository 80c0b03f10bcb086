"""SQL of the jobs' health: how they stand and what waits for them, over all namespaces."""

from __future__ import annotations

from remembrancer.ports.sql import Statement


def standing_statement() -> Statement:
    """Return the statement that reads how each job stands over all namespaces."""
    return Statement(
        "SELECT job, sum(attempts > 0) AS failing, sum(dead_at IS NOT NULL) AS dead,"
        " min(failing_since) AS failing_since, max(last_success_at) AS last_success_at"
        " FROM job_states GROUP BY job ORDER BY job"
    )


def waiting_statement() -> Statement:
    """Return the statement that reads since when messages wait, over all namespaces.

    *Shape:* one row: `unextracted` the oldest message that extraction has not passed, `undreamt`
    the oldest that no night has read where nights have begun, `passed` the oldest of those that
    both have passed; `skipped` how many messages were set aside, and since when. *Promise:* a few
    rows read for each namespace, and those set aside.
    """
    after = "SELECT created_at FROM messages AS m WHERE m.namespace = n.name"
    first = "ORDER BY m.created_at, m.id LIMIT 1"
    return Statement(
        "WITH RECURSIVE n (name) AS (SELECT min(namespace) FROM messages UNION"
        " SELECT (SELECT min(namespace) FROM messages WHERE namespace > n.name) FROM n"
        " WHERE n.name IS NOT NULL) SELECT"
        f" min(({after} AND (m.created_at, m.id) > (coalesce(c.at_ms, 0), coalesce(c.id, ''))"
        f" {first})) AS unextracted,"
        f" min(({after} AND s.job IS NOT NULL AND m.created_at >= coalesce(d.at_ms, 0)"
        f" {first})) AS undreamt,"
        f" min(({after} AND (m.created_at, m.id) <= (c.at_ms, c.id)"
        " AND (s.job IS NULL OR m.created_at < d.at_ms) AND NOT EXISTS (SELECT 1"
        " FROM skipped_messages AS k WHERE k.namespace = n.name AND k.message_id = m.id)"
        f" {first})) AS passed,"
        " sum((SELECT count(*) FROM skipped_messages AS k WHERE k.namespace = n.name)) AS skipped,"
        " min((SELECT min(k.skipped_at) FROM skipped_messages AS k WHERE k.namespace = n.name))"
        " AS skipped_since"
        " FROM n LEFT JOIN job_cursors AS c ON c.namespace = n.name AND c.name = 'extract'"
        " LEFT JOIN job_cursors AS d ON d.namespace = n.name AND d.name = 'dream'"
        " LEFT JOIN job_states AS s ON s.namespace = n.name AND s.job = 'dream'"
    )
