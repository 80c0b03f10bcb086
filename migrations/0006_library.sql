-- The library: precious quotes, the glossary, the digest; and the chat messages that were stored.

CREATE TABLE precious (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  content TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  context_message_ids TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source = 'human' OR source = 'secretary'),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

-- The same bytes are kept once, whoever pins them.
CREATE UNIQUE INDEX precious_text ON precious (namespace, sha256);

CREATE TABLE glossary (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  term TEXT NOT NULL,
  aliases TEXT NOT NULL,
  definition TEXT NOT NULL,
  examples TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

-- `name` is the folded term: the order of lists.
CREATE UNIQUE INDEX glossary_name ON glossary (namespace, name);

-- Every folded term and alias, once in a namespace, enforced by the store.
CREATE TABLE glossary_names (
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  entry_id TEXT NOT NULL,
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE digests (
  namespace TEXT NOT NULL PRIMARY KEY,
  content TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Outside the ledger: messages are raw material, and retention deletes them.
CREATE TABLE messages (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role = 'system' OR role = 'user' OR role = 'assistant' OR role = 'tool'),
  content TEXT NOT NULL,
  source TEXT,
  client_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

-- A message that is sent again within its window is the same message.
CREATE UNIQUE INDEX messages_once ON messages (namespace, client_hash);
CREATE INDEX messages_created ON messages (namespace, created_at, id);
CREATE INDEX messages_conversation ON messages (namespace, conversation_id, created_at, id);

-- How many active memories there are of each type; later ones are counted with each write.
INSERT INTO counters (namespace, name, value)
  SELECT namespace, 'memory_type/' || type, count(*) FROM items
  WHERE kind = 'memory' AND state = 'active' GROUP BY namespace, type;
