"""Chats and MCP's official clients in the platform's own runtime.

The tests are those of `tests/pyodide` and `tests/mcp`; only what they talk to is another.
"""

from __future__ import annotations

import pytest
from tests.mcp.test_product_session import (
    test_python_client_lives_a_day_over_http,
    test_typescript_client_lives_a_day_over_http,
)
from tests.pyodide.test_chat import (
    test_claude_is_translated,
    test_memory_is_saved_at_once_and_recalled,
    test_refusal_comes_with_its_status_and_body,
    test_stream_is_handed_over_and_kept,
    test_stream_that_dies_half_way_ends_with_an_error_event,
    test_whole_answer_comes_back_and_its_turn_is_kept,
)

__all__ = [
    "test_claude_is_translated",
    "test_memory_is_saved_at_once_and_recalled",
    "test_python_client_lives_a_day_over_http",
    "test_refusal_comes_with_its_status_and_body",
    "test_stream_is_handed_over_and_kept",
    "test_stream_that_dies_half_way_ends_with_an_error_event",
    "test_typescript_client_lives_a_day_over_http",
    "test_whole_answer_comes_back_and_its_turn_is_kept",
]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
