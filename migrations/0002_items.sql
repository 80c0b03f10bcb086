-- Projections of items and what they refer to. `position` is that of the last event folded in.
-- Checks compare with OR: for a list of three or more behind IN, D1 counts up to two rows read.

CREATE TABLE items (
  seq INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind = 'task' OR kind = 'memory'),
  type TEXT NOT NULL,
  type_by_hand INTEGER,
  state TEXT NOT NULL CHECK (state = 'active' OR state = 'dormant' OR state = 'stale' OR state = 'superseded' OR state = 'archived' OR state = 'completed' OR state = 'expired' OR state = 'deleted'),
  state_since INTEGER,
  progress TEXT CHECK (progress = 'pending' OR progress = 'in_progress' OR progress = 'failed' OR progress = 'done'),
  title TEXT NOT NULL,
  content TEXT,
  summary TEXT,
  raw_input TEXT,
  priority INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 3),
  startup_priority INTEGER NOT NULL CHECK (startup_priority BETWEEN 0 AND 10),
  fact_key TEXT,
  importance REAL,
  confidence REAL,
  tags TEXT,
  source TEXT,
  source_message_ids TEXT,
  valid_from INTEGER,
  valid_to INTEGER,
  expires_at INTEGER,
  pinned INTEGER,
  authored_by TEXT NOT NULL CHECK (authored_by = 'human' OR authored_by = 'agent' OR authored_by = 'job'),
  due_at INTEGER,
  due_text TEXT,
  snoozed_until INTEGER,
  ignored_until INTEGER,
  recurrence_kind TEXT CHECK (recurrence_kind = 'daily' OR recurrence_kind = 'weekly' OR recurrence_kind = 'monthly' OR recurrence_kind = 'yearly' OR recurrence_kind = 'weekdays'),
  recurrence_interval INTEGER,
  recurrence_until INTEGER,
  recurrence_day INTEGER,
  last_completed_at INTEGER,
  last_completed_due_at INTEGER,
  project_id TEXT,
  topic_id TEXT,
  objective_id TEXT,
  superseded_by TEXT,
  artifact_id TEXT,
  steps TEXT,
  notes TEXT,
  decisions TEXT,
  problems TEXT
) STRICT;

CREATE UNIQUE INDEX items_id ON items (namespace, id);
-- One active holder of a fact key, enforced by the store.
CREATE UNIQUE INDEX items_fact_key ON items (namespace, fact_key) WHERE fact_key IS NOT NULL AND state = 'active';
-- The default order of lists.
CREATE INDEX items_updated ON items (namespace, updated_at DESC, seq DESC);
-- The order of every context level.
CREATE INDEX items_startup ON items (namespace, startup_priority DESC, pinned DESC, priority DESC, updated_at DESC, id) WHERE startup_priority >= 8 AND state IN ('active', 'dormant', 'stale');
CREATE INDEX items_project ON items (namespace, project_id, startup_priority DESC, pinned DESC, priority DESC, updated_at DESC, id) WHERE project_id IS NOT NULL AND state IN ('active', 'dormant', 'stale');
CREATE INDEX items_topic ON items (namespace, topic_id, startup_priority DESC, pinned DESC, priority DESC, updated_at DESC, id) WHERE topic_id IS NOT NULL AND state IN ('active', 'dormant', 'stale');
CREATE INDEX items_due ON items (namespace, due_at) WHERE due_at IS NOT NULL AND kind = 'task' AND state = 'active';
CREATE INDEX items_expiry ON items (namespace, expires_at) WHERE expires_at IS NOT NULL AND state IN ('active', 'dormant', 'stale');

-- The versioned twin: what a list showed at a position.
CREATE TABLE item_versions (
  seq INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  type TEXT NOT NULL,
  type_by_hand INTEGER,
  state TEXT NOT NULL,
  state_since INTEGER,
  progress TEXT,
  title TEXT NOT NULL,
  content TEXT,
  summary TEXT,
  raw_input TEXT,
  priority INTEGER NOT NULL,
  startup_priority INTEGER NOT NULL,
  fact_key TEXT,
  importance REAL,
  confidence REAL,
  tags TEXT,
  source TEXT,
  source_message_ids TEXT,
  valid_from INTEGER,
  valid_to INTEGER,
  expires_at INTEGER,
  pinned INTEGER,
  authored_by TEXT NOT NULL,
  due_at INTEGER,
  due_text TEXT,
  snoozed_until INTEGER,
  ignored_until INTEGER,
  recurrence_kind TEXT,
  recurrence_interval INTEGER,
  recurrence_until INTEGER,
  recurrence_day INTEGER,
  last_completed_at INTEGER,
  last_completed_due_at INTEGER,
  project_id TEXT,
  topic_id TEXT,
  objective_id TEXT,
  superseded_by TEXT,
  artifact_id TEXT,
  steps TEXT,
  notes TEXT,
  decisions TEXT,
  problems TEXT,
  from_position INTEGER NOT NULL,
  to_position INTEGER,
  PRIMARY KEY (namespace, id, from_position)
) STRICT, WITHOUT ROWID;

CREATE INDEX item_versions_updated ON item_versions (namespace, updated_at DESC, seq DESC);
-- A project's timeline: what happened to items while they were in it.
CREATE INDEX item_versions_project ON item_versions (namespace, project_id, from_position) WHERE project_id IS NOT NULL;

CREATE TABLE item_tags (
  namespace TEXT NOT NULL,
  tag TEXT NOT NULL,
  item_id TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (namespace, tag, item_id)
) STRICT, WITHOUT ROWID;

-- Segmented text; rowid is the item's seq. `scope` holds a word for the namespace.
CREATE VIRTUAL TABLE search USING fts5 (scope, title, body, tags, tokenize = 'unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE search_terms USING fts5vocab (search, row);

CREATE TABLE projects (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  state TEXT NOT NULL CHECK (state = 'active' OR state = 'deleted'),
  active_objective_id TEXT,
  objective_since INTEGER,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX projects_slug ON projects (namespace, slug) WHERE state = 'active';
-- A renamed one is found by its name; the slug keeps the first.
CREATE INDEX projects_name ON projects (namespace, name COLLATE NOCASE) WHERE state = 'active';

CREATE TABLE project_versions (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  state TEXT NOT NULL,
  active_objective_id TEXT,
  objective_since INTEGER,
  from_position INTEGER NOT NULL,
  to_position INTEGER,
  PRIMARY KEY (namespace, id, from_position)
) STRICT, WITHOUT ROWID;

CREATE TABLE topics (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  state TEXT NOT NULL CHECK (state = 'active' OR state = 'deleted'),
  kind TEXT NOT NULL CHECK (kind = 'topic' OR kind = 'profile' OR kind = 'project' OR kind = 'system'),
  retrieval_priority INTEGER NOT NULL CHECK (retrieval_priority BETWEEN 0 AND 100),
  canonical_item_id TEXT,
  summary_mode TEXT NOT NULL CHECK (summary_mode = 'auto' OR summary_mode = 'manual'),
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX topics_slug ON topics (namespace, slug) WHERE state = 'active';
-- A renamed one is found by its name; the slug keeps the first.
CREATE INDEX topics_name ON topics (namespace, name COLLATE NOCASE) WHERE state = 'active';

CREATE TABLE topic_versions (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  state TEXT NOT NULL,
  kind TEXT NOT NULL,
  retrieval_priority INTEGER NOT NULL,
  canonical_item_id TEXT,
  summary_mode TEXT NOT NULL,
  from_position INTEGER NOT NULL,
  to_position INTEGER,
  PRIMARY KEY (namespace, id, from_position)
) STRICT, WITHOUT ROWID;

CREATE TABLE relations (
  namespace TEXT NOT NULL,
  source_id TEXT NOT NULL,
  type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  confidence REAL NOT NULL,
  reason TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, source_id, type, target_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX relations_target ON relations (namespace, target_id, type, source_id);

CREATE TABLE settings (
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- What stays of a forgotten item: enough that nothing learns it again, and no text.
CREATE TABLE tombstones (
  namespace TEXT NOT NULL,
  item_id TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  fact_key TEXT,
  actor TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (namespace, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX tombstones_text ON tombstones (namespace, text_hash);

-- Counters of use live outside the ledger, so that reading never writes events.
CREATE TABLE item_use (
  namespace TEXT NOT NULL,
  item_id TEXT NOT NULL,
  recall_count INTEGER NOT NULL,
  last_recalled_at INTEGER,
  seen_count INTEGER NOT NULL,
  last_seen_at INTEGER,
  PRIMARY KEY (namespace, item_id)
) STRICT, WITHOUT ROWID;

-- Payloads too large for an item, in chunks.
CREATE TABLE artifacts (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  item_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  chars INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX artifacts_item ON artifacts (namespace, item_id);

CREATE TABLE artifact_chunks (
  namespace TEXT NOT NULL,
  artifact_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (namespace, artifact_id, number)
) STRICT, WITHOUT ROWID;
