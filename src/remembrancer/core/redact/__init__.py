"""Redaction: secrets are taken out of a memory's text before it is stored anywhere."""
