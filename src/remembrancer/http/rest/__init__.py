"""REST: one module per area, each with its `ROUTES`."""
