-- What waits for a person's word, the diary, and the parts of a night that is not over.

CREATE TABLE candidates (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  type TEXT NOT NULL,
  content TEXT NOT NULL,
  fact_key TEXT,
  confidence REAL NOT NULL,
  importance REAL NOT NULL,
  tags TEXT,
  source_message_ids TEXT,
  source TEXT NOT NULL,
  target_ids TEXT,
  why TEXT,
  decision_note TEXT,
  decided_at INTEGER,
  result_id TEXT,
  fact TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

-- One pending candidate for each fact, enforced by the store.
CREATE UNIQUE INDEX candidates_pending ON candidates (namespace, fact) WHERE status = 'pending';
-- The order of the queue: the least sure first.
CREATE INDEX candidates_queue ON candidates (namespace, status, confidence, id);
-- What was discarded is known again by its words.
CREATE INDEX candidates_text ON candidates (namespace, text_hash, status);

-- One page for each day, week and month.
CREATE TABLE pages (
  namespace TEXT NOT NULL,
  label TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  starts_on TEXT NOT NULL,
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  content TEXT NOT NULL,
  through_id TEXT,
  PRIMARY KEY (namespace, label)
) STRICT, WITHOUT ROWID;

CREATE INDEX pages_order ON pages (namespace, kind, starts_on);

-- Outside the ledger: what was made of each batch of a day, until the day's page is written.
CREATE TABLE dream_parts (
  namespace TEXT NOT NULL,
  date TEXT NOT NULL,
  part INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (namespace, date, part)
) STRICT, WITHOUT ROWID;
