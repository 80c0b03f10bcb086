-- Why each recall brought up what it did. Outside the ledger: retention deletes it. Ids sort by
-- time. There is no memory's text in it but what the query itself says.

CREATE TABLE recalls (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose = 'chat' OR purpose = 'mcp' OR purpose = 'rest'),
  query TEXT NOT NULL,
  degraded TEXT NOT NULL,
  candidates TEXT NOT NULL,
  found INTEGER NOT NULL,
  injected TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;
