"""The distilling bench, and its real arm: over HTTP, to a script that serves on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import bench_distill
from distill_models import good, make_hostile, make_sloppy
from remembrancer.ports.models import Completion, Prompt

Answering = Callable[[Prompt], Completion]

SAID = [
    "I moved to Lisbon in March with my two cats",
    "My sister Ana bakes bread every Sunday",
    "How was your day?",
    "I will run the Berlin marathon in 2027",
]
SAID_ZH = ["我对花生过敏，一直带着药", "我每周三晚上去游泳馆", "你好吗？"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two small sets in the form of the real ones."""
    turns = [{"id": f"D1:{n}", "speaker": "Joana", "text": text} for n, text in enumerate(SAID)]
    asked = [
        {"question": "Where?", "category": 1, "evidence": ["D1:0"]},
        {"question": "What race?", "category": 2, "evidence": ["D1:3"]},
    ]
    whole = [{"sample_id": "s", "sessions": [{"turns": turns}], "questions": asked}]
    history = {"2026-03-01": [{"query": text, "response": "好的"} for text in SAID_ZH]}
    for name, file, value in (
        ("locomo", "locomo-0-4.json", whole),
        ("memorybank-cn", "memory_bank_cn.json", {"小明": {"history": history}}),
    ):
        (tmp_path / name).mkdir()
        text = json.dumps(value, ensure_ascii=False)
        (tmp_path / name / file).write_text(text, encoding="utf-8")
    return tmp_path


@contextmanager
def upstream(answering: Answering) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An OpenAI-compatible server whose model is a script, and what it was asked."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append({"path": self.path, "key": self.headers["authorization"], **body})
            system, user = (str(one["content"]) for one in body["messages"])
            found = answering(Prompt(body["model"], system, user, body["max_tokens"]))
            reply = {
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": found.text},
                        "finish_reason": "length" if found.is_cut else "stop",
                    }
                ],
                "usage": {
                    "prompt_tokens": found.prompt_tokens,
                    "completion_tokens": found.completion_tokens,
                },
            }
            raw = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("name", "answering"),
    [("good", good), ("sloppy", make_sloppy()), ("hostile", make_hostile())],
)
def test_real_arm_finds_over_http_what_the_script_finds(
    name: str, answering: Answering, data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"
    with upstream(answering) as (url, seen):
        monkeypatch.setenv("AI_GATEWAY_BASE_URL", url)
        monkeypatch.setenv("CF_AIG_TOKEN", "sk-upstream")
        arguments = ["--data", str(data), "--json", str(file), "--model", "lab/model-1"]
        assert bench_distill.main(arguments) == 0
    found = json.loads(file.read_text(encoding="utf-8"))
    assert set(found) == {"locomo", "memorybank-cn"}
    for arms in found.values():
        real, script = arms["lab/model-1"], arms[name]
        assert real["calls"] > 0
        assert real["prompt_tokens"] > 0 and real["completion_tokens"] > 0
        same = ("kept", "waiting", "dropped", "grounded_rate", "doubles", "lies", "coverage")
        assert {one: real[one] for one in same} == {one: script[one] for one in same}
        assert real["lies"] == real["doubles"] == 0
        assert real["grounded_rate"] == 1.0
    assert {one["key"] for one in seen} == {"Bearer sk-upstream"}
    assert {one["model"] for one in seen} == {"lab/model-1"}
    assert all(one["path"].endswith("/chat/completions") for one in seen)


def test_key_in_the_environment_brings_the_real_arm(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in bench_distill.UPSTREAM:
        monkeypatch.delenv(name, raising=False)
    assert bench_distill.real_model(None) is None
    with upstream(good) as (url, seen):
        monkeypatch.setenv("AI_GATEWAY_BASE_URL", url)
        monkeypatch.setenv("EXTRACT_MODEL", "lab/model-2")
        assert bench_distill.main(["--data", str(data), "--talks", "1"]) == 0
    printed = capsys.readouterr().out
    assert "lab/model-2" in printed
    for figure in ("grounded_rate", "doubles", "coverage", "prompt_tokens"):
        assert figure in printed
    assert seen
