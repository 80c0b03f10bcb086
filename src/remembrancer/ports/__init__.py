"""Protocols around the platform, with frozen value types.

No implementation lives here; store, app and the drivers import it.
"""
