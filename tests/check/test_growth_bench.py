"""The bench of recall's growth: it seeds a store, recalls from it, and writes its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench_growth
from remembrancer.testing.models import HashingEmbedder


def test_growth_without_an_embedder_measures_words_and_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_growth, "find_embedder", lambda: None)
    monkeypatch.setattr(bench_growth, "TIMES", 2)
    figures = tmp_path / "figures.json"
    assert bench_growth.main(["--items", "60", "--json", str(figures)]) == 0
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert set(found["60"]) == {"words", "memory, MiB"}
    assert found["60"]["words"]["p50_ms"] > 0
    assert found["60"]["memory, MiB"] > 0
    assert "60 items" in capsys.readouterr().out


async def test_ready_embedder_answers_what_it_was_asked_before() -> None:
    encoder = HashingEmbedder()
    ready = await bench_growth.ready(encoder)
    question = bench_growth.QUESTIONS[0]
    assert await ready.embed([question]) == await encoder.embed([question])
