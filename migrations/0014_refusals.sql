-- What a model will not read: a refused batch that is narrowed, and the messages that were set aside.

-- At most one row for each job: its next batch was refused, and how many messages are read instead.
-- Gone once the cursor has passed `until`.
CREATE TABLE refused_batches (
  namespace TEXT NOT NULL,
  job TEXT NOT NULL,
  until_at INTEGER NOT NULL,
  until_id TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (namespace, job)
) STRICT, WITHOUT ROWID;

-- Messages that extraction passed without a model, until a person decides or their time is over.
CREATE TABLE skipped_messages (
  namespace TEXT NOT NULL,
  message_id TEXT NOT NULL,
  said_at INTEGER NOT NULL,
  skipped_at INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  tries INTEGER NOT NULL,
  PRIMARY KEY (namespace, message_id)
) STRICT, WITHOUT ROWID;
