"""Asking a small model, an embedder or a reranker, over JSON: one question, one object back.

What is asked and what the answer means is the model's; what a refusal means is the same for all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from remembrancer.core.errors import InvalidInput, LimitExceeded, RemembrancerError, UpstreamFailed
from remembrancer.core.jsontext import parse_json
from remembrancer.ports.outbound import Outbound, OutboundAnswer, OutboundRequest

_QUOTA_STATUSES: Final = frozenset({402, 429})
_QUOTA_CODES: Final = re.compile(rb"\b(3036|3040)\b")
"""Workers AI's codes of a spent quota. Source: protocols 6.2 (workerd)."""

_QUOTA_BYTES_READ: Final = 2_000
"""Bytes of a refusal in which a code is looked for."""


class Asking:
    """How a model is asked. *Shape:* `who` as errors call it, `setting` what names it.

    *Units:* `timeout_ms` until the answer begins, and between two of its pieces.
    """

    def __init__(self, who: str, setting: str, timeout_ms: int, answer_bytes_max: int) -> None:
        self.who = who
        self.setting = setting
        self.timeout_ms = timeout_ms
        self.answer_bytes_max = answer_bytes_max

    # Any: JSON of a model's server, which the caller looks at.
    async def post(
        self,
        outbound: Outbound,
        url: str,
        headers: Sequence[tuple[str, str]],
        body: Mapping[str, object],
    ) -> dict[str, Any]:
        """Return the object that is answered.

        *Raises:* LimitExceeded (the quota is spent), UpstreamFailed, TimedOut; none of them quotes
        the answer, which may quote a memory.
        """
        request = OutboundRequest(
            "POST",
            url,
            headers=(("content-type", "application/json"), *headers),
            body=json.dumps(body, ensure_ascii=False).encode(),
            timeout_ms=self.timeout_ms,
            idle_ms=self.timeout_ms,
        )
        try:
            answer = await outbound.send(request)
        except InvalidInput as error:
            raise UpstreamFailed(error.message, hint=error.hint) from error
        try:
            raw = await self._whole(answer)
        finally:
            await answer.close()
        if answer.status != 200:
            raise self._refusal(answer, raw)
        try:
            value = parse_json(raw)
        except (ValueError, RecursionError) as error:
            raise UpstreamFailed(f"the {self.who} answered no JSON") from error
        if not isinstance(value, dict):
            raise UpstreamFailed(f"the {self.who} answered no JSON object")
        return value

    async def _whole(self, answer: OutboundAnswer) -> bytes:
        raw = bytearray()
        async for piece in answer.chunks():
            raw += piece
            if len(raw) > self.answer_bytes_max:
                raise UpstreamFailed(
                    f"the {self.who} answered more than {self.answer_bytes_max} bytes"
                )
        return bytes(raw)

    def _refusal(self, answer: OutboundAnswer, raw: bytes) -> RemembrancerError:
        if answer.status in _QUOTA_STATUSES or _QUOTA_CODES.search(raw[:_QUOTA_BYTES_READ]):
            seconds = dict(answer.headers).get("retry-after", "")
            waits = {"retry_after_ms": int(seconds) * 1000} if seconds.isdigit() else {}
            return LimitExceeded(
                f"the {self.who}'s quota is spent", hint="it is asked again later", details=waits
            )
        is_named_wrong = answer.status in (401, 403, 404)
        return UpstreamFailed(
            f"the {self.who} answered {answer.status}",
            hint=f"check {self.setting} and its token" if is_named_wrong else None,
        )
