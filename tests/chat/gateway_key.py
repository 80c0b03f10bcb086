"""A pytest plugin for openai's own tests: they send the gateway's key in place of their own.

Theirs has spaces in it, which no key of ours may have. The run that it is loaded in is another
pytest's, so it imports nothing of ours.
"""

from __future__ import annotations

import os

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    for module in session.config.pluginmanager.get_plugins():
        if hasattr(module, "api_key") and hasattr(module, "admin_api_key"):
            module.api_key = os.environ["GATEWAY_KEY"]
