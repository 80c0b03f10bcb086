"""A model for the panel's tests: real HTTP on loopback, answers by what it is asked.

What a user said becomes a fact, word for word; a sentence with 可能 is doubtful, one with 搬 is
about where the user lives.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LINE = re.compile(r"^\[([\w:-]+)\] (\w+): (.*)$", re.MULTILINE)
"""A line of a prompt: id, role and text."""


def _fact(id_: str, text: str) -> dict[str, Any]:
    return {
        "type": "fact",
        "content": text,
        "fact_key": "profile:city" if "搬" in text else None,
        "confidence": 0.5 if "可能" in text else 0.9,
        "importance": 0.8,
        "tags": ["聊天"],
        "source_message_ids": [id_],
    }


def _answer(body: dict[str, Any]) -> str:
    system = " ".join(str(one["content"]) for one in body["messages"] if one["role"] == "system")
    said = [
        (id_, text)
        for id_, role, text in LINE.findall(str(body["messages"][-1]["content"]))
        if role == "user"
    ]
    if '"memories": [{' in system:
        return json.dumps({"memories": [_fact(id_, text) for id_, text in said]})
    if '"digest"' in system:
        first = said[0][1] if said else "没有消息"
        return json.dumps({"title": "平常的一天", "summary": first, "digest": first})
    return "好的，记下了。"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = _answer(body)
        asked = sum(len(str(one["content"])) for one in body["messages"])
        answer = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_772_366_400,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ],
            "usage": {
                "prompt_tokens": asked,
                "completion_tokens": len(text),
                "total_tokens": asked + len(text),
                "prompt_tokens_details": {"cached_tokens": asked // 2},
            },
        }
        raw = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Say nothing: the tests look at what the server made of it."""


@contextmanager
def model() -> Iterator[str]:
    """Serve the model on a free port; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
