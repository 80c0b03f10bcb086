-- The general key-value cache that clients keep their own things in, outside the ledger.

CREATE TABLE cache_entries (
  namespace TEXT NOT NULL,
  bucket TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  content_type TEXT NOT NULL,
  tags TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (namespace, bucket, name)
) STRICT, WITHOUT ROWID;

-- Partial: an entry that stays for ever is not in it.
CREATE INDEX cache_entries_expires ON cache_entries (namespace, expires_at) WHERE expires_at IS NOT NULL;
