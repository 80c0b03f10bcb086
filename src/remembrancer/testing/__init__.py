"""Shipped fakes and fault wrappers for tests; nothing in the product imports it."""
