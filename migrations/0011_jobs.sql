-- Jobs: who works at what, how far each is, and what has run. Outside the ledger.

-- One row for each job of a namespace that ever had work. `owner` is the run that holds the lease.
CREATE TABLE job_states (
  namespace TEXT NOT NULL,
  job TEXT NOT NULL,
  owner TEXT,
  lease_until INTEGER NOT NULL,
  paused_at INTEGER,
  attempts INTEGER NOT NULL,
  next_at INTEGER,
  dead_at INTEGER,
  failing_since INTEGER,
  last_run_id TEXT,
  last_started_at INTEGER,
  last_success_at INTEGER,
  PRIMARY KEY (namespace, job)
) STRICT, WITHOUT ROWID;

-- Moved in the batch that holds the effects it speaks of. `holds` refuses whoever lost the lease.
CREATE TABLE job_cursors (
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  id TEXT NOT NULL,
  holds INTEGER NOT NULL CHECK (holds = 1),
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_runs (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  job TEXT NOT NULL,
  started_by TEXT NOT NULL CHECK (started_by = 'cron' OR started_by = 'queue' OR started_by = 'hand' OR started_by = 'catch-up' OR started_by = 'retry'),
  status TEXT NOT NULL CHECK (status = 'running' OR status = 'done' OR status = 'failed' OR status = 'lost'),
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  attempt INTEGER NOT NULL,
  done INTEGER,
  total INTEGER,
  counts TEXT NOT NULL,
  error TEXT,
  undone_at INTEGER,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_runs_started ON job_runs (namespace, started_at, id);

-- What retention purges, by when it ended. Partial: no other item pays for it.
CREATE INDEX items_ended_since ON items (namespace, state_since) WHERE state = 'deleted' OR state = 'expired';
