-- The wall clock that a recurring task is due at, where clocks skip it and `due_at` had to move.
ALTER TABLE items ADD COLUMN due_wall TEXT;
ALTER TABLE item_versions ADD COLUMN due_wall TEXT;
