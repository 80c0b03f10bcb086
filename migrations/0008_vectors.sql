-- What waits to be embedded or removed: one row an item, written in the batch that changes it.

CREATE TABLE vector_outbox (
  namespace TEXT NOT NULL,
  item_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  is_gone INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  PRIMARY KEY (namespace, item_id)
) STRICT, WITHOUT ROWID;

-- Removals go first. Partial: a capture pays nothing for it.
CREATE INDEX vector_outbox_gone ON vector_outbox (namespace, item_id) WHERE is_gone = 1;

-- Which vectors were written to the index of which model, to compare it with the store.
CREATE TABLE vector_rows (
  namespace TEXT NOT NULL,
  item_id TEXT NOT NULL,
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (namespace, item_id, model)
) STRICT, WITHOUT ROWID;

-- The models whose indexes are kept: the one that answers, and one that is being filled.
CREATE TABLE vector_models (
  model TEXT NOT NULL PRIMARY KEY,
  is_serving INTEGER NOT NULL DEFAULT 0,
  filled_namespace TEXT NOT NULL DEFAULT '',
  filled_item TEXT NOT NULL DEFAULT '',
  paused_until INTEGER NOT NULL DEFAULT 0,
  last_error TEXT
) STRICT, WITHOUT ROWID;
