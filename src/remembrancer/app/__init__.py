"""Use cases: read, decide, write one batch. No wire format and no driver is known here."""
