-- Access keys that a person made: a projection of the streams key/<id>.

CREATE TABLE keys (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  actor TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  scopes TEXT NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

-- A request knows its token only; two keys cannot share one, whatever their namespaces.
CREATE UNIQUE INDEX keys_token ON keys (token_hash);

-- Outside the ledger: using a key is no change of anything.
CREATE TABLE key_use (
  namespace TEXT NOT NULL,
  key_id TEXT NOT NULL,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, key_id)
) STRICT, WITHOUT ROWID;
