"""All SQL, written once for D1 and SQLite. No rule lives here: it asks core and speaks to ports.sql."""
