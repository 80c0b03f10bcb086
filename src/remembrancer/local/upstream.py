"""Opening the way out to models' servers, and closing it again. `local.wire` imports it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from remembrancer.local.outbound import HttpOutbound, WorkersAiAccount


@asynccontextmanager
async def open_outbound(
    account_id: str | None, token: str | None, *, is_warm: bool = False
) -> AsyncIterator[HttpOutbound]:
    """Open the way out; Workers AI needs an account and its token.

    *Shape:* `is_warm` loads the client now, so that the first chat does not wait for it.
    """
    account = WorkersAiAccount(account_id, token) if account_id and token else None
    outbound = HttpOutbound(account)
    try:
        if is_warm:
            outbound.open()
        yield outbound
    finally:
        await outbound.close()
