"""The measures of the recall bench, on rankings whose worth is known, and its missing sets."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

import bench_recall
from recall_measures import (
    Answered,
    discounted_gain,
    figures_of,
    percentile,
    precision_figures,
    precision_of,
    recall_at,
    reciprocal_rank,
    table,
)
from recall_sets import Question, load_sets
from remembrancer.testing.models import HashingEmbedder

Writer = Callable[[dict[str, str]], Path]

MEMORY = (
    '{"id": "m1", "text": "咖啡一天两杯", "type": "fact", "fact_key": "drink:coffee",'
    ' "tags": ["咖啡"], "created_at": "2026-01-09T06:40:00Z", "superseded": true}\n'
    '{"id": "m2", "text": "咖啡改成一天一杯", "type": "fact", "fact_key": "drink:coffee",'
    ' "tags": [], "created_at": "2026-02-09T06:40:00Z", "superseded": false}\n'
)
QUESTIONS = (
    '{"id": "q1", "split": "dev", "kind": "direct", "question": "咖啡一天几杯",'
    ' "answers": ["m2"]}\n'
    '{"id": "q2", "split": "test", "kind": "small_talk", "question": "ok 收到", "answers": []}\n'
)


def answered(ranking: str, gold: str, kind: str = "direct") -> Answered:
    return Answered(Question("哪里 is it", list(gold), kind, "dev"), list(ranking), list(gold))


@pytest.mark.parametrize(
    ("ranking", "gold", "cut", "share"),
    [
        pytest.param("abc", "a", 1, 1.0, id="first"),
        pytest.param("abc", "c", 2, 0.0, id="below-the-cut"),
        pytest.param("abc", "ac", 5, 1.0, id="both"),
        pytest.param("abc", "abcd", 2, 1.0, id="more-gold-than-places"),
        pytest.param("", "ab", 5, 0.0, id="nothing-came"),
    ],
)
def test_recall_counts_the_gold_above_the_cut(
    ranking: str, gold: str, cut: int, share: float
) -> None:
    assert recall_at(ranking, gold, cut) == share


def test_rank_and_gain_fall_with_the_place() -> None:
    assert reciprocal_rank("xya", "a") == pytest.approx(1 / 3)
    assert reciprocal_rank("xyz", "a") == 0
    assert discounted_gain("ab", "ab") == 1
    assert discounted_gain("xa", "a") == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize(
    ("returned", "gold", "share"),
    [
        pytest.param("", "", 1.0, id="rightly-nothing"),
        pytest.param("", "a", 0.0, id="wrongly-nothing"),
        pytest.param("ab", "a", 0.5, id="half"),
        pytest.param("b", "", 0.0, id="filler"),
    ],
)
def test_precision_counts_filler_against_it(returned: str, gold: str, share: float) -> None:
    assert precision_of(returned, gold) == share


def test_figures_keep_unanswerable_questions_out_of_recall() -> None:
    figures = figures_of([answered("a", "a"), answered("x", ""), answered("", "")])
    assert figures["recall@5"] == 1
    assert figures["false_injection"] == 0.5
    exact = precision_figures([answered("ab", "a"), answered("", "")])
    assert (exact["precision"], exact["exact"], exact["recall"]) == (0.75, 1, 1.0)


def test_table_aligns_figures_and_marks_what_is_missing() -> None:
    lines = table({"all": {"mrr": 0.5, "questions": 2}, "test zh": {"mrr": 1.0}}).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[2].split() == ["test", "zh", "1.000", "-"]
    assert percentile([], 0.5) == 0
    assert percentile([3, 1, 2], 0.5) == 2


@pytest.mark.parametrize(
    ("text", "language"),
    [("哪里", "zh"), ("where", "en"), ("C盘在哪", "zh"), ("NAS 在哪", "mixed")],
)
def test_question_names_its_language(text: str, language: str) -> None:
    assert Question(text, [], "direct", "dev").language == language


@pytest.fixture
def small_set(write_tree: Writer) -> Path:
    return write_tree(
        {
            "zh-recall/part-a/memories.jsonl": MEMORY,
            "zh-recall/part-a/questions.jsonl": QUESTIONS,
        }
    )


def test_bench_without_an_embedder_measures_words_and_names_what_is_missing(
    small_set: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bench_recall, "find_embedder", lambda: None)
    figures = tmp_path / "figures.json"
    assert bench_recall.main(["--data", str(small_set), "--json", str(figures)]) == 0
    printed = capsys.readouterr().out
    assert "locomo is not in" in printed
    assert "words alone are measured" in printed
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["missing"] == ["locomo", "precision-mem-bench"]
    assert set(found["zh-recall"]) == {"words", "no vectors", "brought up, no vectors"}
    words = found["zh-recall"]["words"]
    assert words["dev"]["recall@1"] == 1
    assert words["all"]["superseded"] == 0
    assert words["test"]["false_injection"] == 0


def test_bench_with_an_embedder_measures_every_way_of_asking(
    small_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_recall, "find_embedder", HashingEmbedder)
    figures = tmp_path / "figures.json"
    assert bench_recall.main(["--data", str(small_set), "--json", str(figures)]) == 0
    found = json.loads(figures.read_text(encoding="utf-8"))["zh-recall"]
    assert set(found) == set(bench_recall.ARMS)
    for arm in bench_recall.ARMS:
        # What is brought up is not: its gates know the cosines of the real embedder.
        if not arm.startswith("brought"):
            assert found[arm]["dev"]["recall@1"] == 1
        assert found[arm]["all"]["superseded"] == 0
        assert found[arm]["test"]["false_injection"] == 0


def test_tuning_prints_what_the_dev_half_says(
    small_set: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_recall, "find_embedder", HashingEmbedder)
    questions = (small_set / "zh-recall/part-a/questions.jsonl").read_text(encoding="utf-8")
    more = '{"split": "dev", "kind": "small_talk", "question": "天气", "answers": []}\n'
    more += '{"split": "dev", "kind": "direct", "question": "一天", "answers": ["m2"]}\n'
    (small_set / "zh-recall/part-a/questions.jsonl").write_text(questions + more, encoding="utf-8")
    assert bench_recall.main(["--data", str(small_set), "--tune"]) == 0
    printed = capsys.readouterr().out
    assert "zh-recall, dev" in printed
    assert "a name that is said" in printed
    assert "emptied" in printed


def test_sets_that_are_missing_are_named(tmp_path: Path) -> None:
    assert load_sets(tmp_path) == ([], ["zh-recall", "locomo", "precision-mem-bench"])
