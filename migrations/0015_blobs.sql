-- Artifacts outside the database: where a text is, and what is still to be removed there.

-- 0 in chunks, 1 in chunks and on its way, 2 in the blob store alone, 3 in chunks for good, since
-- it is not what was stored or cannot be kept elsewhere.
ALTER TABLE artifacts ADD COLUMN stage INTEGER NOT NULL DEFAULT 0;

CREATE INDEX artifacts_to_move ON artifacts (namespace, id) WHERE stage < 2;

-- Written by the batch that deletes the artifact. No row goes before the blob is gone.
CREATE TABLE blob_removals (
  namespace TEXT NOT NULL,
  artifact_id TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, artifact_id)
) STRICT, WITHOUT ROWID;
