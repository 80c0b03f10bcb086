"""The bench of what must not come back: it saves beliefs, asks, and names what a case breaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bench_precision
from bench_precision import Answered, failures_of

Writer = Callable[[dict[str, str]], Path]


def belief(name: str, content: str, **other: Any) -> dict[str, Any]:
    return {
        "_id": f"b-{name}",
        "user_id": "test-user",
        "type": "entity",
        "canonical_name": name,
        "aliases": [],
        "content": content,
        "scope": ["domain:code"],
        "epistemic_status": "active",
        "pinned": False,
        "resolved_at": None,
        **other,
    }


BELIEFS = [
    belief("kubernetes", "Deploys services to a cluster.", aliases=["k8s"]),
    belief("mongodb", "Decided on one database.", pinned=True, type="decision"),
    belief("auth", "Evaluating tokens.", pinned=True, type="open_question"),
    belief("direct", "Prefers direct answers.", pinned=True, scope=["user:universal"]),
    belief("old", "Previously used k8s by hand.", epistemic_status="superseded"),
]

CASES = [
    {
        "caseId": "named",
        "scope": ["domain:code"],
        "query": "our k8s deploy story",
        "expect": {
            "relevantBeliefs": {"shouldOnlyInclude": ["b-kubernetes"]},
            "pinnedFacts": {"mustInclude": ["b-mongodb"], "mustExclude": ["b-auth"]},
            "openQuestions": {"mustInclude": ["b-auth"]},
            "personaPrelude": {"nonEmpty": True, "contains": ["direct"]},
        },
    },
    {
        "caseId": "no-room",
        "scope": ["domain:code"],
        "query": "our k8s deploy story",
        "budget": {"maxBeliefs": 1},
        "expect": {"relevantBeliefs": {"shouldOnlyInclude": []}},
    },
    {
        "caseId": "someone-else",
        "userId": "new",
        "scope": ["domain:code"],
        "query": "our k8s deploy story",
        "expect": {
            "relevantBeliefs": {"shouldOnlyInclude": []},
            "personaPrelude": {"isNull": True},
        },
    },
]

SESSIONS = [
    {
        "caseId": "talk",
        "turns": [
            {
                "turnIndex": 0,
                "scope": ["domain:code"],
                "userMessage": "thinking about helm charts",
                "expect": {"relevantBeliefs": {"shouldOnlyInclude": []}},
                "updateBeliefAtTurn": {"beliefId": "b-kubernetes", "addAliases": ["helm charts"]},
            },
            {
                "turnIndex": 1,
                "scope": ["domain:code"],
                "userMessage": "more about the helm charts please",
                "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["b-kubernetes"]}},
            },
        ],
    }
]


def test_bench_marks_cases_and_conversations(
    write_tree: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_precision, "find_embedder", lambda: None)
    folder = write_tree(
        {
            "precision-mem-bench/beliefs.seed.json": json.dumps(BELIEFS),
            "precision-mem-bench/retrieval.cases.json": json.dumps(CASES),
            "precision-mem-bench/session-retrieval.cases.json": json.dumps(SESSIONS),
        }
    )
    figures = tmp_path / "figures.json"
    assert bench_precision.main(["--data", str(folder), "--json", str(figures)]) == 0
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["cases, no vectors"] == {"cases": 3, "passed": 3, "precision": 1, "recall": 1}
    assert found["sessions, no vectors"]["passed"] == 2


def test_bench_without_its_set_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench_precision.main(["--data", str(tmp_path), "--json", str(tmp_path / "f")]) == 0
    assert "is not there" in capsys.readouterr().out
    assert json.loads((tmp_path / "f").read_text(encoding="utf-8")) == {}


@pytest.mark.parametrize(
    ("expect", "failure"),
    [
        pytest.param({"relevantBeliefs": {"mustInclude": ["b"]}}, "lacks b", id="lacks"),
        pytest.param({"pinnedFacts": {"mustExclude": ["p"]}}, "has p", id="has"),
        pytest.param({"noiseCheck": {"mustNotSurface": ["r"]}}, "has r", id="noise"),
        pytest.param({"relevantBeliefs": {"shouldOnlyInclude": []}}, "is ['r']", id="only"),
        pytest.param({"personaPrelude": {"contains": ["word"]}}, "lacks 'word'", id="prelude"),
        pytest.param({"personaPrelude": {"isNull": True}}, "not empty", id="prelude-not-empty"),
        pytest.param({"personaPrelude": {"mustNotContain": ["te"]}}, "has 'te'", id="leak"),
    ],
)
def test_failure_says_what_does_not_hold(expect: dict[str, Any], failure: str) -> None:
    [found] = failures_of(expect, Answered(["r"], ["p"], [], "text"))
    assert failure in found


def test_empty_prelude_is_told() -> None:
    empty = Answered([], [], [], "")
    assert failures_of({"personaPrelude": {"nonEmpty": True}}, empty) == ["the prelude is empty"]
    assert failures_of({}, empty) == []
