"""The bench of recall through the use cases: it saves, embeds and asks as clients do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.check.test_recall_bench import MEMORY, QUESTIONS

import recall_public
from recall_sets import load_sets
from remembrancer.testing.models import HashingEmbedder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    part = tmp_path / "zh-recall" / "part-a"
    part.mkdir(parents=True)
    (part / "memories.jsonl").write_text(MEMORY, encoding="utf-8")
    (part / "questions.jsonl").write_text(QUESTIONS, encoding="utf-8")
    return tmp_path


async def test_a_key_supersedes_and_the_newer_memory_is_found(folder: Path) -> None:
    [labelled], _ = load_sets(folder)
    answered, tokens = await recall_public.answers_of(
        labelled, recall_public.WAYS, HashingEmbedder()
    )
    for way in recall_public.WAYS:
        asked, small_talk = answered[way]
        assert small_talk.ranking == []
        assert asked.ranking in (["m2"], [])
        assert asked.old_count == 0
    assert answered["search"][0].ranking == ["m2"]
    assert all(0 < count <= 400 for count in tokens)


def test_figures_are_written_and_missing_sets_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_public, "find_embedder", lambda: None)
    figures = folder / "figures.json"
    assert recall_public.main(["--data", str(folder), "--json", str(figures)]) == 0
    printed = capsys.readouterr().out
    assert "locomo is not there" in printed
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert set(found["zh-recall"]["ways"]) == {"search", "recall"}
    assert found["missing"] == ["locomo", "precision-mem-bench"]
