"""Remembrancer: long-term memory for agents and chat clients, owned by its user."""
