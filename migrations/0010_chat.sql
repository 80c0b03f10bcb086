-- The chat gateway: conversations, what each turn was given, and what it cost.

-- `prefix` is the fingerprint of what was sent last, part by part: it explains a lost cache.
CREATE TABLE conversations (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  model TEXT NOT NULL,
  prefix TEXT NOT NULL,
  cached_tokens INTEGER,
  turn_count INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX conversations_updated ON conversations (namespace, updated_at, id);

-- What each user turn of a conversation was given: the same through its tool loop, and again in
-- every later request, so that the prefix stays. `block` is marked text; `memory_ids` are those it
-- quotes, so that forgetting one finds it; `thinking` is what Claude wants back with its tool calls.
CREATE TABLE turn_blocks (
  namespace TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  turn TEXT NOT NULL,
  recall_id TEXT,
  block TEXT NOT NULL,
  memory_ids TEXT NOT NULL,
  thinking TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, conversation_id, turn)
) STRICT, WITHOUT ROWID;

CREATE INDEX turn_blocks_created ON turn_blocks (namespace, created_at);

-- One row for each answer of an upstream; no text of anybody's.
CREATE TABLE usage (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  turn TEXT NOT NULL,
  request_id TEXT NOT NULL,
  model TEXT NOT NULL,
  status INTEGER NOT NULL,
  is_stream INTEGER NOT NULL CHECK (is_stream IN (0, 1)),
  is_complete INTEGER NOT NULL CHECK (is_complete IN (0, 1)),
  finish_reason TEXT,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  cached_tokens INTEGER,
  cache_write_tokens INTEGER,
  reasoning_tokens INTEGER,
  cost REAL,
  first_byte_ms INTEGER NOT NULL,
  total_ms INTEGER NOT NULL,
  recall_id TEXT,
  saved TEXT NOT NULL,
  degraded TEXT NOT NULL,
  cache_note TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_conversation ON usage (namespace, conversation_id, id);
CREATE INDEX usage_created ON usage (namespace, created_at);

-- Of messages that came through the gateway: which model answered, whether it was cut off, and
-- which artifacts stand for the files that were sent along.
ALTER TABLE messages ADD COLUMN model TEXT;
ALTER TABLE messages ADD COLUMN is_partial INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN artifact_ids TEXT NOT NULL DEFAULT '[]';
