"""All SQL, written once for D1 and SQLite: it asks core for rules and speaks to `ports.sql`."""
