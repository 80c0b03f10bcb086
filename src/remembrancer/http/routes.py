"""Every route that is served, in one place; each area declares its own.

A composition serves `ROUTES`; the reference and the documentation test read the same.
"""

from __future__ import annotations

from typing import Final

from remembrancer.http import docs, health, openapi
from remembrancer.http.rest import keys
from remembrancer.http.route_table import AnyRoute

ROUTES: Final[tuple[AnyRoute, ...]] = (
    *health.ROUTES,
    *openapi.ROUTES,
    *docs.ROUTES,
    *keys.ROUTES,
)
"""All routes; their order is that of the reference."""
