-- The ledger, and what every write keeps beside it.
-- Events are never deleted, so positions only grow.

CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  stream TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version > 0),
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  cause TEXT NOT NULL,
  body TEXT,
  salt TEXT,
  body_hash TEXT NOT NULL,
  chain TEXT NOT NULL
) STRICT;

-- The lock: two writers of one stream cannot both have this version.
CREATE UNIQUE INDEX events_stream ON events (namespace, stream, version);

-- Undo takes back a whole command; time travel turns a time into a position.
CREATE INDEX events_cause ON events (namespace, cause);
CREATE INDEX events_time ON events (namespace, at_ms);

-- A repeated write answers the first result.
CREATE TABLE idempotency (
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  answer TEXT,
  at_ms INTEGER NOT NULL,
  cause TEXT NOT NULL,
  PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

-- Bumped in the same batch as a change: startup, names, topic/<id>, project/<id>.
CREATE TABLE scope_versions (
  namespace TEXT NOT NULL,
  scope TEXT NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (namespace, scope)
) STRICT, WITHOUT ROWID;

-- True unfiltered totals, kept by the projections.
CREATE TABLE counters (
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- What a rebuild has done so far.
CREATE TABLE rebuild_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  started_position INTEGER NOT NULL,
  last_namespace TEXT NOT NULL,
  last_stream TEXT NOT NULL,
  last_version INTEGER NOT NULL
) STRICT;

-- A batch that writes a row here fails unless its condition holds.
CREATE TABLE guards (
  holds INTEGER NOT NULL CHECK (holds = 1)
) STRICT;
