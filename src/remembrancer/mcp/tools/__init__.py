"""The tools, one module for each area; `mcp.catalogue` puts them together.

A tool parses nothing and decides nothing: its model has parsed, `app/` decides.
"""
