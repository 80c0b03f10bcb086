-- When a namespace was last imported: an item that came without counters of use counts as used then.

CREATE TABLE imports (
  namespace TEXT NOT NULL PRIMARY KEY,
  imported_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
